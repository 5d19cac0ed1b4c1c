import { accountIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Flows, executions, runs over all of a tenant, tools, webhooks, documents. */

const external = '/api/v1/external';
const textOf = (value: unknown): string => JSON.stringify(value);
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_each, index) => make(index));

const executing = (workflow: string, data: object, isAsync: boolean) => (attacker: Attacker) =>
  attacker.flood(() => ({
    path: `/v1/workflows/${workflow}/execute`,
    method: 'POST',
    body: textOf({ data, async: isAsync }),
  }));

const october = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };

const call = (index: number, name: string, given: object): string =>
  textOf({ jsonrpc: '2.0', id: index, method: 'tools/call', params: { name, arguments: given } });

export const flowAttacks: readonly Attack[] = [
  {
    name: 'dry billing runs over 2,000 accounts and a century, asynchronous',
    operations: ['executeWorkflow'],
    isShort: true,
    run: executing(
      'billing-run',
      { periodStart: '2026-01-01', periodEnd: '2125-12-31', dryRun: true },
      true,
    ),
  },
  {
    name: 'dry billing runs over a month, awaited',
    operations: ['executeWorkflow'],
    run: executing('billing-run', { ...october, dryRun: true }, false),
  },
  {
    name: 'batches of 1,000 payments',
    operations: ['runSavePaymentBatch'],
    isShort: true,
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `${external}/run/billing/payment/create/batch`,
        method: 'POST',
        body: textOf({
          data: times(1_000, (place) => ({
            account_id: accountIdOf(place % 2_000),
            amount: 1,
            currency_id: 'USD',
            payment_date: '2026-10-05',
            payment_method: 'ACH',
            payment_reference: `${attacker.stamp}-${index}-${place}`,
          })),
        }),
      }));
    },
  },
  {
    name: 'batches of 1,000 edits of an account of a mebibyte',
    operations: ['runEditAccountBatch'],
    isShort: true,
    async run(attacker) {
      const name = `large ${attacker.stamp}`;
      const long = 'a'.repeat(250);
      const addresses = times(1_000, () => ({ line1: long, line2: long, city: long }));
      const made = await attacker.make(`${external}/accounts`, { name, addresses });
      const data = times(1_000, () => ({ id: made?.['id'], name }));
      await attacker.flood(() => ({
        path: `${external}/run/billing/account/edit/batch`,
        method: 'POST',
        body: textOf({ data }),
      }));
    },
  },
  {
    name: 'batches of 1,000 start nodes that all fail',
    operations: ['runEditAccountBatch'],
    async run(attacker) {
      await attacker.flood(() => ({
        path: `${external}/run/billing/account/edit/batch`,
        method: 'POST',
        body: textOf({ data: times(1_000, () => ({ id: crypto.randomUUID(), name: 'x' })) }),
      }));
    },
  },
  {
    name: 'audits of 20,000 events, asynchronous',
    operations: ['executeWorkflow'],
    run: executing('audit-usage', { periodStart: '2026-10-01', periodEnd: '2026-11-20' }, true),
  },
  {
    name: 'payments, asynchronous, with long keys',
    operations: ['executeWorkflow', 'createPayment', 'runSavePayment'],
    async run(attacker) {
      await attacker.flood((index) => ({
        path: '/v1/workflows/payment-save/execute',
        method: 'POST',
        headers: { 'idempotency-key': `${attacker.stamp}-${index}-${'k'.repeat(200)}` },
        body: textOf({
          async: true,
          data: {
            account_id: accountIdOf(index % 2_000),
            amount: 1,
            currency_id: 'USD',
            payment_date: '2026-10-05',
            payment_method: 'ACH',
            payment_reference: `${attacker.stamp}-${index}`,
          },
        }),
      }));
    },
  },
  {
    name: 'one idempotency key by all at once',
    async run(attacker) {
      const body = textOf({ id: accountIdOf(3), description: 'x'.repeat(3_000) });
      await attacker.flood(() => ({
        path: `${external}/run/billing/account/edit`,
        method: 'POST',
        body,
        headers: { 'idempotency-key': attacker.stamp },
      }));
    },
  },
  {
    name: 'flows that all change one record',
    operations: ['runEditAccount'],
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `${external}/run/billing/account/edit`,
        method: 'POST',
        body: textOf({ id: accountIdOf(5), description: `${index} ${'d'.repeat(3_900)}` }),
      }));
    },
  },
  {
    name: 'flows with starts that are refused late',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: `${external}/run/billing/contract/create`,
        method: 'POST',
        body: textOf({
          name: `c-${attacker.stamp}-${index}`,
          master_account_id: `no such account ${'n'.repeat(200)}`,
        }),
      }));
    },
  },
  {
    name: 'lists of executions with large inputs',
    operations: ['listExecutions', 'getExecution', 'listAudit'],
    async run(attacker) {
      await attacker.flood((index) => ({
        path:
          index % 2 === 0
            ? '/v1/workflows/account-edit/executions?limit=1000'
            : '/v1/audit?limit=1000&offset=0',
      }));
    },
  },
  {
    name: 'MCP: batches of tool calls',
    isShort: true,
    async run(attacker) {
      // As many as are answered, and more than that.
      const bodies = [100, 400].map((count) => {
        const calls = times(count, (each) =>
          call(each, 'listRatedTransactions', { size: 20, page: 900 }),
        );
        return `[${calls.join(',')}]`;
      });
      await attacker.flood((index) => ({
        path: '/mcp',
        method: 'POST',
        body: bodies[index % bodies.length] ?? '',
      }));
    },
  },
  {
    name: 'MCP: a hundred heavy calls in one request, with ids of their own and with one',
    async run(attacker) {
      const event = (id: number) => ({
        externalTransactionId: `m-${id}`,
        serviceId: attacker.loot.params['serviceId'],
        billingAccountRef: accountIdOf(7),
        eventTimestamp: '2026-10-05T12:00:00Z',
        dimensions: { api_calls: '1000' },
      });
      const body = times(25, event);
      const batch = (idOf: (index: number) => number) =>
        `[${times(99, (index) => call(idOf(index), 'simulateUsage', { body })).join(',')}]`;
      const bodies = [batch((index) => index), batch(() => 1)];
      await attacker.flood((index) => ({
        path: '/mcp',
        method: 'POST',
        body: bodies[index % bodies.length] ?? '',
      }));
    },
  },
  {
    name: 'MCP: simulation and lists of 1,000 through tools',
    async run(attacker) {
      const names = ['listUsageEvents', 'listAudit', 'listRecords'];
      await attacker.flood((index) => ({
        path: '/mcp',
        method: 'POST',
        body: call(index, names[index % names.length] ?? '', {
          limit: 1_000,
          ...(index % names.length === 2 ? { mobjectId: attacker.loot.hoardId } : {}),
        }),
      }));
    },
  },
  {
    name: 'MCP: descriptions of all tools',
    async run(attacker) {
      await attacker.flood((index) => ({
        path: '/mcp',
        method: 'POST',
        body: textOf({ jsonrpc: '2.0', id: index, method: 'tools/list' }),
      }));
    },
  },
  {
    name: 'MCP: sessions that listen and hang',
    async run(attacker) {
      for (let count = 0; count < 500; count += 1) {
        attacker.socket(attacker.head('GET', '/mcp', ['Accept: text/event-stream']));
      }
      await attacker.untilOver();
    },
  },
  {
    name: 'documents of an invoice of 3,000 items, in parallel',
    operations: ['getInvoicePdf'],
    isShort: true,
    async run(attacker) {
      const path = `${external}/invoices/${attacker.loot.hugeInvoiceId}/pdf`;
      await attacker.flood(() => ({ path }));
    },
  },
  {
    name: 'explanation of an invoice of 3,000 items',
    operations: ['explainInvoice', 'getInvoice'],
    async run(attacker) {
      const { hugeInvoiceId: id } = attacker.loot;
      await attacker.flood((index) => ({
        path:
          index % 2 === 0
            ? `/v1/invoices/${id}/explain?limit=1000`
            : `${external}/invoices/${id}?view=row&paper=true`,
      }));
    },
  },
  {
    name: 'contracts with the most lines',
    operations: ['createContract', 'updateContract', 'getContract', 'listContractServices'],
    async run(attacker) {
      const { references } = attacker.loot;
      const services = times(480, (index) => ({
        serviceId: references['serviceId'],
        startDate: '2026-01-01',
        serviceInstanceId: `${attacker.stamp}-${index}`,
        chargeFrequency: 'Daily',
        billingFrequency: 'Monthly',
      }));
      const body = (index: number) => ({
        name: `c-${attacker.stamp}-${index}`,
        masterAccountId: references['masterAccountId'],
        currency: 'USD',
        services: services.map((line) => ({
          ...line,
          serviceInstanceId: `${line.serviceInstanceId}-${index}`,
        })),
      });
      const otherwise = references['contractId'];
      const id = await attacker.makeId(`${external}/contracts`, body(0), otherwise);
      await attacker.flood((index) =>
        index % 4 === 0
          ? { path: `${external}/contracts`, method: 'POST', body: textOf(body(index)) }
          : { path: `${external}/contracts/${id}${index % 2 === 0 ? '' : '?view=row'}` },
      );
    },
  },
  {
    name: 'accounts with the most addresses',
    operations: ['createAccount', 'updateAccount', 'getAccount'],
    async run(attacker) {
      const addresses = times(100, (index) => ({
        line1: `${index} Main Street`,
        city: 'c'.repeat(200),
        country: 'US',
      }));
      await attacker.flood((index) => ({
        path: `${external}/accounts`,
        method: 'POST',
        body: textOf({ name: `a ${index}`, externalId: `${attacker.stamp}-${index}`, addresses }),
      }));
    },
  },
  {
    name: 'searches that find nothing, deep in all lists',
    operations: ['listAccounts', 'listRatedTransactions', 'listUsageEvents', 'listInvoices'],
    async run(attacker) {
      const lists = ['accounts', 'contracts', 'services', 'rated-transactions', 'payments'];
      await attacker.flood((index) => ({
        path: `${external}/${lists[index % lists.length] ?? ''}?size=20&page=900&q=${'%25_'.repeat(80)}`,
      }));
    },
  },
  {
    name: 'invoices by the days that they bill, deep among 100,000',
    operations: ['listInvoices'],
    isShort: true,
    async run(attacker) {
      await attacker.query(
        `insert into invoice select made.*
         from invoice i, generate_series(1, 100000) as n, jsonb_populate_record(i, jsonb_build_object(
           'id', gen_random_uuid(), 'invoice_no', 'INV-' || n, 'invoice_date', date '2000-01-01' + n / 11,
           'period_start', date '2000-01-01' + n / 11 - 30, 'period_end', date '2000-01-01' + n / 11)) as made
         where i.invoice_no = 'INV-HUGE'`,
      );
      const days = [
        'periodFromDate=2000-01-01',
        'periodToDate=2026-12-31',
        'periodToDate=2000-01-02',
      ];
      await attacker.flood((index) => ({
        path: `${external}/invoices?size=100&page=${index % 900}&${days[index % days.length] ?? ''}&q=9`,
      }));
    },
  },
  {
    name: 'the status after 10,000 refused previews of 100,000 characters',
    operations: ['getStatus'],
    isShort: true,
    async run(attacker) {
      await attacker.query(
        `insert into execution (tenant_id, id, run_id, workflow, workflow_id, actor, request_id, status,
           input, error, started_at, completed_at)
         select 'attacker', gen_random_uuid(), 'run', 'amendUsageEvent', 'w' || n, 'ada', 'r', 'failed',
           jsonb_build_object('dryRun', true, 'content', repeat('c', 100000)),
           '{"kind": "validation", "message": "No."}', now(), now()
         from generate_series(1, 10000) as n`,
      );
      await attacker.flood(() => ({ path: '/v1/status' }));
    },
  },
];
