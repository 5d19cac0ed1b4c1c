import { expect } from 'chai';
import pg from 'pg';
import { migrateDatabase } from '../../src/platform/database/migrations.js';
import { invoicesOf, itemLines, runBilling } from '../support/billing/billing-run.js';
import { accountIdOf, fillPrices, fillFacts, serviceIdOf } from '../support/servers/fill.js';
import { external, openTestInstance, type TestTenant } from '../support/servers/instance.js';
import { migrateTo } from '../support/servers/migrate-to.js';
import { createEmptyDatabase } from '../support/servers/servers.js';

const tenantId = 'upgraded';
/** The last migration under which a transaction itself said whether it is billed. */
const earlier = '20261122120000-create-billing.js';

const idOf = (kind: number, number: number): string =>
  `0000000${kind}-0000-7000-8000-${String(number).padStart(12, '0')}`;
const invoiceIdOf = (number: number): string => idOf(5, number);

interface EarlierInvoice {
  readonly number: number;
  readonly account: number;
  readonly status: 'Posted' | 'Void';
  /** As [service, dimension, amount]. */
  readonly items: readonly (readonly [service: number, dimension: string, amount: string])[];
  readonly events: readonly number[];
}

/** One that holds nothing any more. */
const voidOf = (number: number): EarlierInvoice => ({
  number,
  account: 1,
  status: 'Void',
  events: [],
  items: [[0, serviceIdOf(0), '1.25']],
});

/**
 * Twelve events of 1.25, two a week from the 1st of October on: the n-th is of account 2n mod 3 and of
 * service n mod 2. Those of the first invoice are in one item, those of the second in both: its events
 * cost 0.75 more for minutes.
 */
const invoices: readonly EarlierInvoice[] = [
  { number: 1, account: 0, status: 'Posted', events: [0, 6], items: [[0, serviceIdOf(0), '2.50']] },
  {
    number: 2,
    account: 2,
    status: 'Posted',
    events: [1, 7],
    items: [
      [1, serviceIdOf(1), '2.50'],
      [1, idOf(6, 1), '1.50'],
    ],
  },
  voidOf(3),
];

async function storeInvoice(client: pg.Client, invoice: EarlierInvoice): Promise<void> {
  const { number, account, status, items, events } = invoice;
  await client.query(
    `insert into invoice (tenant_id, id, invoice_no, invoice_date, account_id, invoice_status,
       invoice_type, currency, amount, balance, transaction_count, voided_at)
     select $1, $2, 'INV-00000' || $3, '2026-10-20', $4, $5, 'Invoice', 'USD', sum(amount),
       case when $5 = 'Void' then 0 else sum(amount) end, $6, case when $5 = 'Void' then now() end
     from unnest($7::numeric[]) as amount`,
    [
      tenantId,
      invoiceIdOf(number),
      String(number),
      accountIdOf(account),
      status,
      events.length,
      items.map(([, , amount]) => amount),
    ],
  );
  for (const [position, [service, dimension, amount]] of items.entries()) {
    await client.query(
      `insert into invoice_item (tenant_id, id, invoice_id, position, service_id, dimension_id,
         volume, rate_per_unit, exact_amount, amount, balance, charge_type, price_method_type)
       values ($1, $2, $3, $4, $5, $6, 24, 0.1, $7, $7, $8, 'Usage', 'QUANTITY')`,
      [
        tenantId,
        idOf(7, 10 * number + position),
        invoiceIdOf(number),
        position,
        serviceIdOf(service),
        dimension,
        amount,
        status === 'Void' ? 0 : amount,
      ],
    );
  }
  if (events.length === 0) return;
  await client.query(
    `update rated_transaction set billed = true, invoice_id = $2, invoice_item_id = $3
     where tenant_id = $1 and external_tran_id = any($4)`,
    [
      tenantId,
      invoiceIdOf(number),
      items.length === 1 ? idOf(7, 10 * number) : null,
      events.map((event) => `txn-${event}`),
    ],
  );
}

/** What a tenant had before: usage, of which some is billed. */
async function fillEarlier(client: pg.Client): Promise<void> {
  await client.query('insert into tenant (id, name) values ($1, $1)', [tenantId]);
  await fillFacts(client, { tenantId, accounts: 3, events: 12, services: 2 });
  await fillPrices(client, { tenantId, services: 2 });
  await client.query(
    `with more as (
       update rated_transaction set amount = amount + 0.75
       where tenant_id = $1 and external_tran_id in ('txn-1', 'txn-7') returning id
     )
     insert into rated_dimension (tenant_id, transaction_id, position, dimension_id, dimension_name,
       rate_card_row_id, volume, rate, calc_amount, currency, price_method_type, item_type,
       bill_start_date, bill_end_date)
     select tenant_id, transaction_id, 1, $2, 'minutes', $2, 12, 0.1, 0.75, currency,
       price_method_type, item_type, bill_start_date, bill_end_date
     from rated_dimension join more on more.id = transaction_id where tenant_id = $1`,
    [tenantId, idOf(6, 1)],
  );
  for (const invoice of invoices) await storeInvoice(client, invoice);
  await client.query('insert into invoice_counter (tenant_id, next_number) values ($1, 4)', [
    tenantId,
  ]);
}

const allEvents = Array.from({ length: 12 }, (_none, index) => `txn-${index}`).sort();

describe('the migration that records billed usage beside the transactions', function () {
  // All migrations run up, down and up again.
  this.timeout(120_000);
  let databaseUrl = '';
  let client: pg.Client;
  before(async () => {
    databaseUrl = await createEmptyDatabase();
    await migrateTo(databaseUrl, earlier, 'up');
    client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await fillEarlier(client);
  });
  after(() => client.end());

  const withTenant = async (work: (tenant: TestTenant) => Promise<void>): Promise<void> => {
    // Each instance seals its keys with a secret of its own.
    await client.query('delete from signing_key');
    const route = () => Promise.resolve(databaseUrl);
    const instance = await openTestInstance({ withWorkers: true, route });
    try {
      await work(await instance.tenant(undefined, tenantId));
    } finally {
      await instance.close();
    }
  };

  const billedEvents = async (tenant: TestTenant): Promise<string[]> => {
    const { body } = await tenant.get(`${external}/rated-transactions?size=20`).expect(200);
    const rows = body.data.content as { ExternalTranId: string; Billed: boolean }[];
    expect(rows).to.have.length(12);
    return rows
      .filter(({ Billed }) => Billed)
      .map(({ ExternalTranId }) => ExternalTranId)
      .sort();
  };

  /** The invoice and item of each billed transaction, as the earlier schema has it. */
  const earlierState = async (): Promise<unknown[]> => {
    const { rows } = await client.query(
      `select external_tran_id as event, invoice_no as invoice, invoice_item_id is null as "isDivided"
       from rated_transaction as t join invoice
         on invoice.tenant_id = t.tenant_id and invoice.id = t.invoice_id
       where t.tenant_id = $1 and billed order by 1`,
      [tenantId],
    );
    return rows;
  };

  it('goes up with what is billed, and down again', async () => {
    const divided = [
      { event: 'txn-0', invoice: 'INV-000001', isDivided: false },
      { event: 'txn-1', invoice: 'INV-000002', isDivided: true },
      { event: 'txn-6', invoice: 'INV-000001', isDivided: false },
      { event: 'txn-7', invoice: 'INV-000002', isDivided: true },
    ];
    expect(await earlierState()).to.deep.equal(divided);
    await migrateDatabase(databaseUrl);
    await migrateTo(databaseUrl, earlier, 'down');
    expect(await earlierState()).to.deep.equal(divided);
    await migrateDatabase(databaseUrl);
  });

  it('leaves billed what was billed, bills the rest, and releases what an earlier invoice holds', () =>
    withTenant(async (tenant) => {
      expect(await billedEvents(tenant)).to.deep.equal(['txn-0', 'txn-1', 'txn-6', 'txn-7']);
      const october = await runBilling(tenant, '2026-10-01', '2026-10-31');
      const posted = await invoicesOf(tenant, october);
      // Before the last day that was billed, and after it: 3 and 9 of the first account, 4 and 10 of
      // the third; all of the second: 2 and 8 of one service, 5 and 11 of the other. 2 x 1.25 each.
      expect(posted.map(({ invoiceNo, accountId }) => [invoiceNo, accountId])).to.deep.equal([
        ['INV-000004', accountIdOf(0)],
        ['INV-000005', accountIdOf(1)],
        ['INV-000006', accountIdOf(2)],
      ]);
      expect(posted.map(itemLines)).to.deep.equal([
        ['api_calls 2026-10-08..2026-10-22 2.5'],
        ['api_calls 2026-10-05..2026-10-19 2.5', 'api_calls 2026-10-12..2026-10-26 2.5'],
        ['api_calls 2026-10-10..2026-10-24 2.5'],
      ]);
      expect(october.transactionCount).to.equal(8);
      expect(await billedEvents(tenant)).to.deep.equal(allEvents);
      expect((await runBilling(tenant, '2026-11-01', '2026-11-30')).invoiceCount).to.equal(0);

      // What an earlier invoice holds is known when that is voided.
      await tenant.post(`/v1/invoices/${invoiceIdOf(2)}/void`).expect(200);
      const free = allEvents.filter((event) => !['txn-1', 'txn-7'].includes(event));
      expect(await billedEvents(tenant)).to.deep.equal(free);
      const again = await runBilling(tenant, '2026-11-01', '2026-11-30');
      const [invoice] = await invoicesOf(tenant, again);
      // 2 x 1.25, and 2 x 0.75 for the minutes.
      expect(invoice && itemLines(invoice).sort()).to.deep.equal([
        'api_calls 2026-10-03..2026-10-17 2.5',
        'minutes 2026-10-03..2026-10-17 1.5',
      ]);
      await tenant.post(`/v1/invoices/${again.invoiceIds[0]}/void`).expect(200);
    }));

  it('goes down with what was billed since, and up once more', async () => {
    await migrateTo(databaseUrl, earlier, 'down');
    const invoiceOf: Record<string, string> = {
      'txn-0': 'INV-000001',
      'txn-6': 'INV-000001',
      'txn-3': 'INV-000004',
      'txn-9': 'INV-000004',
      'txn-2': 'INV-000005',
      'txn-5': 'INV-000005',
      'txn-8': 'INV-000005',
      'txn-11': 'INV-000005',
      'txn-4': 'INV-000006',
      'txn-10': 'INV-000006',
    };
    expect(await earlierState()).to.deep.equal(
      Object.entries(invoiceOf)
        .map(([event, invoice]) => ({ event, invoice, isDivided: false }))
        .sort((a, b) => (a.event < b.event ? -1 : 1)),
    );
    const audited = async (): Promise<unknown> => {
      const { rows } = await client.query<{ count: number }>(
        `select count(*)::integer as count from audit
         where tenant_id = $1 and entity = 'invoice' and action = 'create'`,
        [tenantId],
      );
      return rows[0]?.count;
    };
    // Three of before, three of October, and that of November.
    expect(await audited()).to.equal(7);
    // The earlier triggers audit again, and the later ones after them.
    await storeInvoice(client, voidOf(98));
    expect(await audited()).to.equal(8);
    await migrateDatabase(databaseUrl);
    await storeInvoice(client, voidOf(99));
    expect(await audited()).to.equal(9);
    await withTenant(async (tenant) => {
      const free = allEvents.filter((event) => !['txn-1', 'txn-7'].includes(event));
      expect(await billedEvents(tenant)).to.deep.equal(free);
      const december = await runBilling(tenant, '2026-12-01', '2026-12-31');
      expect(december).to.include({ invoiceCount: 1, transactionCount: 2 });
      expect(await billedEvents(tenant)).to.deep.equal(allEvents);
    });
  });
});
