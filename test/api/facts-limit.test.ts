import { expect } from 'chai';
import { openTestInstance, type TestInstance, type TestTenant } from '../support/instance.js';
import { asOwner } from '../support/rows.js';
import { createAccount, createService, send, usage, waitUntilRated } from '../support/usage.js';

/** 5,000 rows of 4,000 characters, 20 MiB, for the card of a service. */
const addRows = `
  insert into rate_card_row (tenant_id, id, rate_card_id, position, attribute_id,
    attribute_name, label, usage_type, price_method, rates, attribute_values)
  select $1, gen_random_uuid(), card.id, n, attribute.id, 'api_calls', repeat('x', 4000), 'Charge',
    'NO_PRICE', '{}', '[{"attributeName": "region", "attributeValue": "nowhere"}]'
  from generate_series(2, 5001) as n, rate_card as card, attribute
  where card.service_id = $2 and attribute.service_id = $2 and attribute.name = 'api_calls'`;

describe('events of services with very many prices', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance({ withWorkers: true });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  it('are rated by as many transactions as what they need to know fits into', async () => {
    await createAccount(tenant, 'acme');
    const serviceIds: string[] = [];
    for (const name of ['one', 'two', 'three', 'four']) {
      const id = await createService(tenant, name);
      await asOwner(instance.databaseUrl, (client) => client.query(addRows, [tenant.id, id]));
      serviceIds.push(id);
    }
    await send(tenant, ...serviceIds.map((id) => usage('acme', id)));
    expect(await waitUntilRated(tenant, 4)).to.include({ rated: 4, rejected: 0 });
    // 48 MiB are two of 20 MiB and the third, with which they are reached.
    const sql = `select count(*)::integer as events from usage_event
      where tenant_id = $1 group by processed_at order by events desc`;
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ events: number }>(sql, [tenant.id]),
    );
    expect(rows[0]?.events).to.be.at.most(3);
  });
});
