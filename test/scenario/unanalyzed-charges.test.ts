import { expect } from 'chai';
import { fillPrices, fillTenant } from '../support/servers/fill.js';
import { asOwner } from '../support/servers/rows.js';
import { useStory } from '../support/story/story.js';

/**
 * Tables as autovacuum leaves them on the first day: it knows parts of a table in partitions, and
 * nothing of the whole.
 */
const analyzedParts = `do $$
  declare part text;
  begin
    for part in select oid::regclass from pg_class where relkind = 'r'
      and (relname like 'rated_transaction%' or relname in ('invoice_usage', 'rated_dimension'))
    loop execute 'analyze ' || part; end loop;
  end $$`;

describe('an invoice among many charges of the first day', () => {
  const story = useStory();

  // docs/decisions/0527
  it('says at once what it is made of', async () => {
    const { tenant, instance } = story;
    const filling = { tenantId: tenant.id, accounts: 10, services: 1, events: 60_000 };
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, filling);
      await fillPrices(client, filling);
    });
    const { invoices } = await story.bill('2026-10');
    await asOwner(instance.databaseUrl, (client) => client.query(analyzedParts));
    const path = `/v1/invoices/${invoices[0]?.id}/explain?summaryOnly=true`;
    const { body } = await tenant.get(path).expect(200);
    const { largestEvents, items } = body.summary;
    expect(largestEvents).to.have.length(5);
    // 60,000 events of ten accounts, at 1.25.
    expect(items[0]).to.include({ amount: 7_500 });
    expect(items[0].rows[0]).to.include({ transactions: 6_000, amount: 7_500 });
  }).timeout(120_000);
});
