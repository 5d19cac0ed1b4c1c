import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { KillableProduct } from '../start/killable.js';
import { KilledTenant } from '../start/killed-tenant.js';
import { outcomeOf, tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';
import { startTestCell, type StoppableCell } from '../support/servers/cells.js';
import { asOwner } from '../support/servers/rows.js';

const tenantId = 'kill-moves';
const prefix = 'm';
/** How often the product dies with kill -9 while the tenant moves: DURABILL_KILLS=100 for the long run. */
const kills = Number(process.env['DURABILL_KILLS'] ?? 1);
const eventsBefore = 2_000;
const endMs = 120_000;
/** What starting and each kill may take; a kill takes some 20 s. */
const startMs = 300_000;
const killMs = 90_000;

const total = `
  select (select count(*)::int from usage_event where tenant_id = $1) as events,
    (select count(*)::int from audit where tenant_id = $1) as audited`;

/** spec/platform.md R128 to R130. Two PostgreSQL servers. */
describe('moves of a tenant while the product is killed with -9', function () {
  this.timeout(startMs + kills * killMs);
  let home: StoppableCell;
  let cell: StoppableCell;
  let product: KillableProduct;
  let tenant: KilledTenant;
  before(async () => {
    [home, cell] = await Promise.all([startTestCell('home'), startTestCell('eu1')]);
    const eu1 = `eu1=${cell.url}`;
    product = await KillableProduct.start({
      env: {
        DATABASE_URL: home.url,
        DATABASE_OWNER_URL: home.url,
        CELLS: eu1,
        CELL_OWNERS: eu1,
      },
    });
    tenant = await KilledTenant.open(product, tenantId);
  });
  after(async () => {
    await product.close();
    await Promise.all([home.remove(), cell.remove()]);
  });

  const rowsIn = (databaseUrl: string) =>
    asOwner(databaseUrl, async (owner) => {
      const { rows } = await owner.query<{ events: number; audited: number }>(total, [tenantId]);
      return rows[0];
    });

  /** Sends events one behind the other until it is stopped; what was not confirmed is sent again. */
  const stream = (serviceId: string, first: number) => {
    let isStopped = false;
    let number = first;
    const isConfirmed = (): Promise<boolean> =>
      product
        .send(tenant.token, '/v1/ingest/usage', {
          body: {
            message: {
              externalTransactionId: `${prefix}-${number}`,
              serviceId,
              billingAccountRef: 'acme',
              eventTimestamp: '2026-03-15T12:00:00Z',
              dimensions: { api_calls: '2' },
            },
          },
        })
        .then(
          ({ ok }) => ok,
          () => false,
        );
    const running = (async () => {
      // The last one, too, is sent until it is confirmed.
      while (!isStopped) {
        while (!(await isConfirmed())) await wait(20);
        number += 1;
      }
    })();
    return async () => {
      isStopped = true;
      await running;
      return number;
    };
  };

  /** Where the directory says that the tenant is, and whether its move goes on. */
  const placeOf = async () => {
    const [row] = await product.query<{ cell: string; state: string }>(
      `select coalesce((select cell from tenant_cell where tenant_id = '${tenantId}'), 'home') as cell,
         coalesce((select state from tenant_move where tenant_id = '${tenantId}'), 'ended') as state`,
    );
    return row;
  };

  it('lose, double and leave nothing, wherever they were', async () => {
    const serviceId = await tenant.fill({ events: eventsBefore, accounts: ['acme'], prefix });
    const stop = stream(serviceId, eventsBefore);
    for (let kill = 0; kill < kills; kill += 1) {
      const to = kill % 2 === 0 ? 'eu1' : 'home';
      const words = ['tenant', 'move', tenantId, to, '--background', '--grace', '0s'];
      const moved = await product.command(...words);
      expect(moved.code, moved.output).to.equal(0);
      await wait(Math.random() * 2_500);
      await product.kill();
      await product.launch();
      const isMoved = async () => {
        const place = await placeOf();
        return place?.cell === to && place.state === 'ended';
      };
      await until(isMoved, endMs, `the move ${kill} to ${to}`);
      const left = await rowsIn(to === 'home' ? cell.url : home.url);
      expect(left, `what move ${kill} left`).to.deep.equal({ events: 0, audited: 0 });
    }
    const sent = await stop();
    const summary = () =>
      tenant.call<{ pending: number; rated: number; rejected: number }>('/v1/usage-events/summary');
    await until(async () => (await summary()).pending === 0, endMs, 'rating');
    expect(await summary()).to.include({ rated: sent, rejected: 0 });
    const place = kills % 2 === 0 ? home.url : cell.url;
    const all = new Set(Array.from({ length: sent }, (_each, number) => number));
    const outcome = await asOwner(place, (owner) =>
      outcomeOf(
        async <Row extends object>(sql: string) => (await owner.query<Row>(sql)).rows,
        prefix,
        all,
      ),
    );
    expect(outcome).to.include({ rated: sent, lost: 0, doubled: 0, counters: outcome.volumes });
    const audited = await product.command('audit', 'verify', '--tenant', tenantId);
    expect(audited.code, audited.output).to.equal(0);
    tellFigures({ kills, events: sent });
  });
});
