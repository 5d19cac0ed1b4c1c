import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { unpackCharges } from '../../src/queries/usage/repricing/packed-charge.js';
import { KillableProduct } from '../start/killable.js';
import { KilledTenant } from '../start/killed-tenant.js';
import { tellFigures } from '../start/outcome.js';

const tenantId = 'kill-what-if';
const events = 20_000;
/** How often the product dies with kill -9 while it rates: DURABILL_KILLS=100 for the long run. */
const kills = Number(process.env['DURABILL_KILLS'] ?? 3);

describe('what-ifs while the product is killed with -9', function () {
  this.timeout(1_200_000 + kills * 60_000);
  let product: KillableProduct;
  let tenant: KilledTenant;
  before(async () => {
    product = await KillableProduct.start();
    tenant = await KilledTenant.open(product, tenantId);
  });
  after(() => product.close());

  const figuresOf = async (id: string): Promise<Record<string, unknown>> => {
    const { repricingId, ...figures } = await tenant.ended('reprice', id);
    expect(repricingId).to.equal(id);
    return figures;
  };
  /** What is kept of a what-if beside its figures: each account, and each charge, however many a row has. */
  const kept = async (id: string) => {
    const rows = await product.query<{ account_id: string; figures: object; charges: string }>(
      `select account.account_id,
         json_build_array(account.before, account.after, account.charges) as figures, charge.charges
       from repricing_account as account join repricing_charge as charge
         on charge.tenant_id = account.tenant_id and charge.repricing_id = account.repricing_id
         and charge.account_id = account.account_id
       where account.tenant_id = '${tenantId}' and account.repricing_id = '${id}'
       order by account.account_id, charge.first`,
    );
    const all = rows.flatMap(({ account_id: accountId, figures, charges }) =>
      unpackCharges(charges).map((charge) => JSON.stringify({ accountId, figures, charge })),
    );
    return { count: all.length, digest: createHash('sha256').update(all.join()).digest('hex') };
  };

  // spec/beyond.md R219, R229
  it('come to what one that nobody kills comes to, charge by charge', async () => {
    // Most of it is of one account, which goes from portion to portion.
    const accounts = ['acme', 'acme', 'acme', 'globex', 'initech'];
    await tenant.fill({ events, accounts, prefix: 'w' });
    const data = {
      name: 'More usage',
      from: '2026-03-01',
      to: '2026-04-01',
      changes: [{ kind: 'usage', factor: 1.5 }],
      guard: { accountChangeMax: 10 },
    };
    const quiet = await tenant.start('reprice', data);
    const figures = await figuresOf(quiet);
    expect(figures).to.include({ events });
    const charges = await kept(quiet);
    const books = await tenant.call('/v1/usage');
    expect(charges.count).to.equal(events);
    for (let kill = 0; kill < kills;) {
      const killed: string[] = [];
      // Charges of the newest 20 are kept.
      for (const most = Math.min(kills, kill + 10); kill < most; kill += 1) {
        killed.push(await tenant.start('reprice', data));
        await wait(50 + Math.random() * 1_500);
        await product.kill();
        await product.launch();
      }
      for (const id of killed) {
        expect(await figuresOf(id)).to.deep.equal(figures);
        expect(await kept(id)).to.deep.equal(charges);
      }
    }
    expect(await tenant.call('/v1/usage')).to.deep.equal(books);
    tellFigures({ kills, events, after: JSON.stringify(figures['after']) });
  });
});
