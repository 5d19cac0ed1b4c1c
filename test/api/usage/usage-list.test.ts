import { expect } from 'chai';
import { rebuildProjections } from '../../../src/commands/usage/project-usage.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { until } from '../../start/workbench.js';

interface Shown {
  readonly data: { readonly id: string; readonly status: string }[];
  readonly pagination: { readonly total: number };
}

/** Events by account and by service, which are listed behind rating (docs/decisions/0343). */
describe('listed usage events', function () {
  // Each comparison with the facts is a hundred requests.
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);
  const ids: Record<string, string> = {};
  before(async () => {
    for (const name of ['a', 'b']) ids[name] = await createAccount(tenant, name);
    for (const name of ['One', 'Two']) ids[name] = await createService(tenant, name);
    for (let index = 0; index < 30; index += 1) {
      const service = ids[index % 2 === 0 ? 'One' : 'Two'] ?? '';
      await send(tenant, usage(index % 3 === 0 ? 'a' : 'b', service));
    }
    // Rejected, a duplicate, and one that is rejected and then repaired under another account.
    await send(tenant, usage('a', ids['One'] ?? '', { dimensions: { unknown: '1' } }));
    const again = usage('b', ids['Two'] ?? '');
    await send(tenant, again, again);
    const repaired = usage('a', ids['Two'] ?? '', { dimensions: { api_calls: 'x' } });
    await send(tenant, repaired);
    await waitUntilRated(tenant, 34);
    await send(tenant, {
      ...repaired,
      billingAccountRef: 'b',
      dimensions: { api_calls: '1' },
    });
    await waitUntilRated(tenant, 35);
  });

  const sql = (text: string) =>
    asOwner(instance.databaseUrl, (client) => client.query<{ count: number }>(text, [tenant.id]));
  const countOf = async (table: string) =>
    (await sql(`select count(*)::integer as count from ${table} where tenant_id = $1`)).rows[0]
      ?.count;
  const group = async () => {
    // What waits has waited for long enough.
    await sql(`update usage_unlisted set added_at = added_at - interval '1 minute'
      where tenant_id = $1`);
    await until(async () => (await countOf('usage_unlisted')) === 0, 20_000, 'all in groups');
  };
  const list = async (query: string): Promise<Shown> =>
    (await tenant.get(`/v1/usage-events?${query}`).expect(200)).body as Shown;
  const audit = async () => {
    const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
    return body.output as { differenceCount: number; differences: { kind: string }[] };
  };

  /** Every filter by account and service gives what the facts have, page by page. */
  const expectFacts = async () => {
    const { rows: facts } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ id: string; status: string; account: string; service: string }>(
        `select id, status, account_id as account, service_id as service from usage_event
         where tenant_id = $1 order by id desc`,
        [tenant.id],
      ),
    );
    for (const [kind, name] of [
      ['account', 'a'],
      ['account', 'b'],
      ['service', 'One'],
      ['service', 'Two'],
    ] as const) {
      const key = ids[name] ?? '';
      for (const status of ['', 'rated', 'rejected', 'duplicate']) {
        const wanted = facts
          .filter((event) => event[kind] === key && (status === '' || event.status === status))
          .map(({ id }) => id);
        const query = `${kind}Id=${key}${status === '' ? '' : `&status=${status}`}`;
        for (const limit of [4, 100]) {
          const shown: string[] = [];
          for (let offset = 0; offset <= wanted.length; offset += limit) {
            const { data, pagination } = await list(`${query}&limit=${limit}&offset=${offset}`);
            expect(pagination.total, query).to.equal(wanted.length);
            shown.push(...data.map(({ id }) => id));
          }
          expect(shown, query).to.deep.equal(wanted);
        }
        const timed = await list(`${query}&limit=100&from=2026-03-01`);
        expect(timed.data.map(({ id }) => id)).to.deep.equal(wanted);
        expect(timed.pagination.total).to.equal(wanted.length);
      }
    }
    const both = await list(`accountId=${ids['a'] ?? ''}&serviceId=${ids['One'] ?? ''}&limit=100`);
    // The rated ones 0, 6, 12, 18 and 24 of the first thirty, and the rejected one.
    expect(both.pagination.total).to.equal(6);
    expect(both.data).to.have.length(6);
  };

  it('are those of the facts while they wait, and in groups', async () => {
    await expectFacts();
    await group();
    expect(await countOf('usage_list')).to.be.at.least(4);
    await expectFacts();
    expect((await audit()).differenceCount).to.equal(0);
  });

  it('are in their order when groups overlap, and others wait', async () => {
    await group();
    // Each group becomes three that have every third id.
    await sql(`
      with gone as (delete from usage_list where tenant_id = $1 returning *)
      insert into usage_list (tenant_id, kind, key, first_id, last_id, events, ids)
      select tenant_id, kind, key, (array_agg(id order by id))[1],
        (array_agg(id order by id desc))[1], count(*), array_agg(id order by id)
      from gone cross join unnest(ids) with ordinality as each (id, place)
      group by tenant_id, kind, key, place % 3`);
    await expectFacts();
    await send(tenant, usage('a', ids['Two'] ?? ''), usage('b', ids['One'] ?? ''));
    await waitUntilRated(tenant, 37);
    await expectFacts();
    await group();
    await expectFacts();
  });

  it('that are not those of the facts are found by the audit, and made right by a rebuild', async () => {
    await group();
    await sql(`update usage_list set ids = ids[2:], events = events - 1
      where tenant_id = $1 and kind = 'account' and cardinality(ids) > 1`);
    const { differenceCount, differences } = await audit();
    // Both accounts lack some.
    expect(differenceCount).to.equal(2);
    expect(differences.map(({ kind }) => kind)).to.deep.equal(['list', 'list']);
    await rebuildProjections({ tenantId: tenant.id, db: tenant.scope.db });
    await expectFacts();
    await send(tenant, usage('a', ids['One'] ?? ''));
    await waitUntilRated(tenant, 38);
    const left = async () =>
      (
        await sql(`select count(*)::integer as count from fact_move
          where tenant_id = $1 and kind = 'lists' and done_at is null`)
      ).rows[0]?.count;
    await until(async () => (await left()) === 0, 20_000, 'the end of the lists');
    await group();
    expect((await audit()).differenceCount).to.equal(0);
  });
});
