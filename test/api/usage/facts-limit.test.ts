import { expect } from 'chai';
import { longRowsSql } from '../../support/billing/catalog.js';
import { asOwner } from '../../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** 30 MiB, and so too much to be remembered, for the card of a service. */
const addRows = longRowsSql(750);

describe('events of services with very many prices', function () {
  // Of each card 30 MiB are written, read and rated by.
  this.timeout(120_000);
  // Beside other tests the retry takes longer than a request waits.
  const instance = useInstance({ withWorkers: true, flowTimeoutMs: 100_000 });
  const tenant = useTenant(instance);

  it('are rated by as many transactions as what they need to know fits into', async () => {
    const serviceIds: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const id = await createService(tenant, name);
      await asOwner(instance.databaseUrl, (client) => client.query(addRows, [tenant.id, id]));
      serviceIds.push(id);
    }
    await send(tenant, ...serviceIds.map((id) => usage('acme', id)));
    expect(await waitUntilRated(tenant, 3)).to.include({ rejected: 3 });
    await createAccount(tenant, 'acme');
    // A page of a retry is one transaction, if what it needs to know fits.
    const { body } = await tenant.post('/v1/usage-events/retry', {}).expect(200);
    expect(body).to.include({ retried: 3, rated: 3, rejected: 0 });
    // 48 MiB are reached with the second.
    const sql = `select count(*)::integer as events from usage_event
      where tenant_id = $1 group by processed_at order by events desc`;
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ events: number }>(sql, [tenant.id]),
    );
    expect(rows.map(({ events }) => events)).to.deep.equal([2, 1]);
  });
});
