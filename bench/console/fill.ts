import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { accountIdOf, fillPrices } from '../../test/support/servers/fill.js';
import { UsageMaker } from '../fixture.js';
import type { Bench } from '../rows.js';

/** How many rows a list gets that is not filled with the tenant. */
const rows = 10_000;
/** Usage of one account and service: pages of an item. */
const usageOfItem = 2_000;
const eventsAtOnce = 500;
const versions = 100;
const month = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };

/** A workflow that ends at once, and one that asks people. */
export const shownWorkflow = 'bench-shown';
const askingWorkflow = 'bench-asking';

/** What is looked at by its id. */
export interface Filled {
  readonly webhookId: string;
  readonly repricingId: string;
  readonly serviceId: string;
  readonly invoiceId: string;
  readonly itemId: string;
}

/** Ids of a list or an answer, as far as they are read here. */
interface Found {
  readonly id: string;
  readonly executionId: string;
}

let filling: Promise<Filled> | undefined;

/** Fills what the console shows, once for all that is measured. */
export const fillConsole = (bench: Bench): Promise<Filled> => (filling ??= fill(bench));

async function fill(bench: Bench): Promise<Filled> {
  const { databaseUrl, product, tenantId, tell } = bench;
  tell('console: filling its lists');
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await product.ask({ do: 'allowRequests', tenantId });
  await product.ask({ do: 'startWorkers' });
  try {
    await makeTotals(bench, db);
    await sendUsage(bench);
    const invoice = await bill(bench, db);
    const serviceId = await makeVersions(bench);
    await execute(bench, db);
    await correct(bench, db);
    const repricingId = await reprice(bench, db);
    const webhookId = await deliver(bench, db);
    await makeKeys(bench, db);
    await bench.client.send('PUT', '/v1/schedules/billing', { every: 'Monthly', hour: 3 });
    await product.ask({ do: 'stopWorkers' });
    await db.query('vacuum analyze');
    return { ...invoice, serviceId, repricingId, webhookId };
  } finally {
    await db.end();
  }
}

/** Copies one row of a table so often, each with an id of its own and `changes`, SQL of JSON of `i`. */
async function copy(
  db: pg.Client,
  { table, where, changes }: { table: string; where: string; changes: string },
): Promise<void> {
  const { rowCount } = await db.query(
    `insert into ${table} overriding user value
     select made.* from (select * from ${table} where ${where} limit 1) as one
       cross join generate_series(1, ${rows}) as i
       cross join lateral jsonb_populate_record(null::${table}, to_jsonb(one)
         || jsonb_build_object('id', gen_random_uuid(), ${changes})) as made`,
  );
  if (rowCount !== rows) throw new Error(`There is no ${table} to copy.`);
}

/** What rating would have left for the totals of the tenant that is filled. */
async function makeTotals({ tenantId, services }: Bench, db: pg.Client): Promise<void> {
  await fillPrices(db, { tenantId, services: services.length });
  await db.query('insert into usage_total_rebuild (tenant_id) values ($1)', [tenantId]);
  const left = 'select from usage_total_rebuild where tenant_id = $1';
  while ((await db.query(left, [tenantId])).rowCount !== 0) await wait(100);
  await db.query('vacuum analyze');
}

/** Usage of one account and service, and events that are rejected for several reasons. */
async function sendUsage({ client, services }: Bench): Promise<void> {
  const maker = new UsageMaker('item', services.slice(0, 1), 1);
  const events = Array.from({ length: usageOfItem }, () => maker.next());
  const wrong = [
    { billingAccountRef: 'nobody' },
    { serviceId: accountIdOf(0) },
    { dimensions: { api_calls: 'many' } },
  ];
  for (let count = 0; count < rows; count += 1) {
    const { message } = maker.next();
    events.push({ key: `wrong-${count}`, message: { ...message, ...wrong[count % wrong.length] } });
  }
  for (let at = 0; at < events.length; at += eventsAtOnce) {
    const batch = events.slice(at, at + eventsAtOnce);
    await client.send('POST', '/v1/ingest/usage/batch', batch);
  }
  for (;;) {
    const path = '/v1/usage-events/summary';
    const { pending } = await client.send<{ pending: number }>('GET', path);
    if (pending === 0) return;
    await wait(100);
  }
}

/** Executes a workflow and waits until it has ended well; asks the database: the API counts questions. */
async function run({ client }: Bench, db: pg.Client, name: string, data: object): Promise<string> {
  const path = `/v1/workflows/${name}/execute`;
  const { executionId } = await client.send<Found>('POST', path, { data, async: true });
  for (;;) {
    const { rows: found } = await db.query<{ status: string; error: unknown }>(
      'select status, error from execution where id = $1',
      [executionId],
    );
    const [{ status, error } = { status: 'running', error: null }] = found;
    if (status === 'completed') return executionId;
    if (status !== 'running') throw new Error(`${name} is ${status}: ${JSON.stringify(error)}`);
    await wait(100);
  }
}

/** Invoices of all accounts, and many runs; one item whose usage has pages. */
async function bill(bench: Bench, db: pg.Client) {
  const { accounts, services } = bench;
  await run(bench, db, 'billing-run', month);
  const { rows: found } = await db.query<{ invoiceId: string; itemId: string }>(
    `select invoice_id as "invoiceId", id as "itemId" from invoice_item
     where service_id = $1 and invoice_id in (select id from invoice where account_id = $2)`,
    [services[0], accounts[0]],
  );
  const [item] = found;
  if (item === undefined) throw new Error('The account of the item has none.');
  const dry = { ...month, accountId: accounts[0], dryRun: true };
  await copyExecution(db, await run(bench, db, 'billing-run', dry));
  return item;
}

const copyExecution = (db: pg.Client, executionId: string) =>
  copy(db, {
    table: 'execution',
    where: `id = '${executionId}'`,
    changes: `'run_id', gen_random_uuid(), 'started_at', one.started_at - i * interval '1 minute',
      'completed_at', one.completed_at - i * interval '1 minute'`,
  });

/** A service with many versions of its card. */
async function makeVersions({ client, services }: Bench): Promise<string> {
  const serviceId = services.at(-1) ?? '';
  const path = `/api/v1/external/services/${serviceId}/rate-cards/USD`;
  const { rows: card } = await client.send<{ rows: readonly object[] }>('GET', path);
  for (let day = 1; day <= versions; day += 1) {
    const fromDate = new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10);
    const body = { currency: 'USD', fromDate, rows: card };
    await client.send('POST', `${path}/versions`, body);
  }
  return serviceId;
}

const definitionOf = (name: string, task: object): object => ({
  definition: {
    document: { dsl: '1.0.0', namespace: 'bench', name, version: '1.0.0' },
    do: [{ all: task }],
  },
});

/** Executions of a workflow, and approvals that another waits for. */
async function execute(bench: Bench, db: pg.Client): Promise<void> {
  const { client } = bench;
  const ask = {
    call: 'durabill.approval',
    with: { title: 'Is it right?', timeout: 'P14D', onTimeout: 'reject' },
  };
  await client.send('POST', '/v1/workflows', definitionOf(shownWorkflow, { set: { done: true } }));
  await client.send('POST', '/v1/workflows', definitionOf(askingWorkflow, ask));
  await copyExecution(db, await run(bench, db, shownWorkflow, {}));
  await client.send('POST', `/v1/workflows/${askingWorkflow}/execute`, { data: {}, async: true });
  while ((await db.query('select from approval')).rowCount === 0) await wait(100);
  await copy(db, {
    table: 'approval',
    where: 'true',
    changes: `'status', 'approved', 'created_at', one.created_at - i * interval '1 minute'`,
  });
}

/** Corrections of events. */
async function correct({ client }: Bench, db: pg.Client): Promise<void> {
  const reason = 'Sent twice';
  await client.send('POST', '/v1/usage-events/item-1/cancel', { reason });
  await copy(db, {
    table: 'usage_correction',
    where: 'true',
    changes: `'created_at', one.created_at - i * interval '1 minute'`,
  });
}

/** Prices that were tried: many, one of them on the usage of many accounts. */
async function reprice(bench: Bench, db: pg.Client): Promise<string> {
  const data = {
    name: 'More usage',
    from: '2026-10-01',
    to: '2026-11-01',
    serviceIds: bench.services.slice(0, 1),
    changes: [{ kind: 'usage', factor: 1.1 }],
  };
  const id = await run(bench, db, 'reprice', data);
  await db.query(
    `insert into repricing_account
       (tenant_id, repricing_id, account_id, currency, before, after, charges)
     select tenant_id, $2, id, 'USD', 10, 10 + right(number, 2)::numeric / 10, 10 from account
     where tenant_id = $1 and number like 'A-__%' limit ${rows}`,
    [bench.tenantId, id],
  );
  await copy(db, {
    table: 'repricing',
    where: 'true',
    changes: `'created_at', one.created_at - i * interval '1 minute'`,
  });
  return id;
}

/** Deliveries to a webhook, of which nothing is sent: it is off. */
async function deliver({ client, tenantId }: Bench, db: pg.Client): Promise<string> {
  const { id } = await client.send('POST', '/v1/webhooks', {
    url: 'https://receiver.example/hooks',
    events: ['payment.saved'],
    secret: 'bench of the console',
    active: false,
  });
  await db.query(
    `with sent as (
       insert into webhook_delivery (tenant_id, id, webhook_id, event_id, event, record_id, status,
         attempts, ended_at, created_at)
       select $1, gen_random_uuid(), $2, gen_random_uuid(), 'payment.saved', gen_random_uuid(),
         'delivered', 1, now(), now() - i * interval '1 second' from generate_series(1, $3) as i
       returning *
     )
     insert into webhook_attempt
       (tenant_id, delivery_id, round, number, started_at, duration_ms, status_code)
     select tenant_id, id, 1, 1, created_at, 20, 204 from sent`,
    [tenantId, id, rows],
  );
  return id;
}

const makeKeys = ({ tenantId }: Bench, db: pg.Client) =>
  db.query(
    `insert into access_key (id, tenant_id, name, org_id, roles, secret_hash, created_at)
     select 'bench-' || i, $1, 'Key ' || i, 'bench', '{READER}', sha256(i::text::bytea),
       now() - i * interval '1 hour' from generate_series(1, ${rows / 10}) as i`,
    [tenantId],
  );
