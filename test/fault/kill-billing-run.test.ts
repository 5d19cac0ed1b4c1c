import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { fillPrices, fillTenant } from '../support/servers/fill.js';
import { KillableProduct } from '../start/killable.js';
import { tellFigures } from '../start/outcome.js';
import { until } from '../start/workbench.js';

const accounts = 10_000;
/** Kills fall between and within batches of accounts; DURABILL_KILLS=5 also for as many rows as are billed. */
const isLong = process.env['DURABILL_KILLS'] !== undefined;
const transactions = isLong ? 1_000_000 : 200_000;
const kills = Number(process.env['DURABILL_KILLS'] ?? 5);
const services = 20;
const tenantId = 'kill-billing';
const period = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };
/** Between 1 and 2, with all the ten places that rating keeps. */
const amountSql = `1 + abs(hashtext(external_transaction_id))::numeric / 10000000000`;

interface Found {
  readonly billed: number;
  readonly distinct: number;
  readonly lost: number;
  readonly unequal: number;
  readonly exact: string;
  readonly rated: string;
}

/** What was billed, against what was rated. */
const foundSql = `
  with part as (
    select transaction_id as id from invoice_usage as usage
    join invoice on invoice.tenant_id = usage.tenant_id and invoice.id = usage.invoice_id
      and invoice.invoice_status = 'Posted'
    cross join unnest(usage.transaction_ids) as transaction_id where usage.tenant_id = '${tenantId}'
  ), rated as (
    select account_id, sum(amount) as amount from rated_transaction
    where tenant_id = '${tenantId}' group by 1
  ), billed as (
    select invoice.account_id, sum(item.exact_amount) as amount
    from invoice join invoice_item as item
      on item.tenant_id = invoice.tenant_id and item.invoice_id = invoice.id
    where invoice.tenant_id = '${tenantId}' group by 1
  )
  select (select count(*)::integer from part) as billed,
    (select count(distinct id)::integer from part) as "distinct",
    (select count(*)::integer from rated_transaction as t where t.tenant_id = '${tenantId}'
      and not exists (select from part where part.id = t.id)) as lost,
    (select count(*)::integer from rated full join billed using (account_id)
      where rated.amount is distinct from billed.amount) as unequal,
    (select trim_scale(sum(amount))::text from billed) as exact, (select trim_scale(sum(amount))::text from rated) as rated`;

describe('a billing run that is killed with -9', function () {
  this.timeout(3_600_000);
  let product: KillableProduct;
  let owner: pg.Client;
  let token = '';
  before(async () => {
    product = await KillableProduct.start();
    token = await product.token(tenantId);
    owner = new pg.Client({ connectionString: await product.databaseUrl() });
    await owner.connect();
    await fillTenant(owner, { tenantId, accounts, events: transactions, services, amountSql });
    await fillPrices(owner, { tenantId, services });
    await owner.query('vacuum analyze');
  });
  after(async () => {
    await owner.end();
    await product.close();
  });

  const execute = async (): Promise<string> => {
    const response = await product.send(token, '/v1/workflows/billing-run/execute', {
      body: { data: period, async: true },
    });
    expect(response.status).to.equal(200);
    return ((await response.json()) as { executionId: string }).executionId;
  };

  const countInvoices = async (): Promise<number> => {
    const { rows } = await owner.query<{ count: number }>(
      'select count(*)::integer from invoice where tenant_id = $1',
      [tenantId],
    );
    return rows[0]?.count ?? 0;
  };

  const read = async (executionId: string) => {
    const { rows } = await owner.query<{ status: string; invoiceCount: number }>(
      `select status, (output ->> 'invoiceCount')::integer as "invoiceCount"
       from execution where tenant_id = $1 and id = $2`,
      [tenantId, executionId],
    );
    return rows[0] ?? { status: 'running', invoiceCount: 0 };
  };

  const ended = async (executionId: string) => {
    const hasEnded = async () => (await read(executionId)).status !== 'running';
    await until(hasEnded, 1_800_000, 'the end of the run');
    return read(executionId);
  };

  /** Whether a batch is under way: nothing else keeps a transaction open for so long. */
  const isBilling = async (): Promise<boolean> => {
    const { rowCount } = await owner.query(
      `select from pg_stat_activity where datname = current_database()
         and backend_type = 'client backend' and xact_start < now() - interval '0.2 s'`,
    );
    return rowCount !== 0;
  };

  // spec/rating.md R54; spec/flows.md R36
  it('bills every transaction once, without a gap, to the last digit', async () => {
    const since = performance.now();
    const executionId = await execute();
    const billedAt: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      // The first before anything of the batches is committed, the others between and within them.
      const least = (kill * accounts) / kills;
      const isOn = async () =>
        ((await countInvoices()) >= least && (await isBilling())) ||
        (await read(executionId)).status !== 'running';
      await until(isOn, 120_000, 'billing after a kill');
      await wait(Math.random() * 300);
      await product.kill();
      billedAt.push(await countInvoices());
      await product.launch();
    }
    const { status, invoiceCount } = await ended(executionId);
    expect(status).to.equal('completed');
    expect(billedAt.some((billed) => billed > 0 && billed < accounts)).to.equal(true);

    const { rows } = await owner.query<Found>(foundSql);
    const [found] = rows;
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    tellFigures({
      kills,
      'at invoice': billedAt.join(' '),
      invoices: invoiceCount,
      seconds,
      transactions,
      ...found,
      doubled: (found?.billed ?? 0) - (found?.distinct ?? 0),
    });
    expect(found).to.include({
      billed: transactions,
      distinct: transactions,
      lost: 0,
      unequal: 0,
      exact: found?.rated,
    });
    // Each account has usage in one currency: one invoice.
    expect(invoiceCount).to.equal(Math.min(accounts, transactions));
    const numbers = await owner.query<{ number: string }>(
      'select invoice_no as number from invoice where tenant_id = $1 order by 1',
      [tenantId],
    );
    expect(numbers.rows.map(({ number }) => number)).to.deep.equal(
      Array.from({ length: invoiceCount }, (_each, index) => {
        return `INV-${String(index + 1).padStart(6, '0')}`;
      }),
    );

    expect(await ended(await execute())).to.deep.equal({ status: 'completed', invoiceCount: 0 });
  });
});
