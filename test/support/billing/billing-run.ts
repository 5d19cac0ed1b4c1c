import { expect } from 'chai';
import { external, type TestTenant } from '../servers/instance.js';
import { createAccount, createService, send, usage, waitUntilRated } from './usage.js';

/** What a billing run puts out. */
export interface RunOutput {
  readonly invoiceCount: number;
  readonly invoiceIds: readonly string[];
  readonly transactionCount: number;
  readonly problemCount: number;
  readonly problems: readonly {
    readonly code: string;
    readonly message: string;
    readonly events?: number;
  }[];
  readonly invoices?: readonly BilledInvoice[];
}

export interface BilledItem {
  readonly description: string;
  readonly volume: number;
  readonly ratePerUnit: number | null;
  readonly amount: number;
  readonly tax: number;
  readonly chargeType: string;
  readonly priceMethodType: string | null;
  readonly billStartDate: string;
  readonly billEndDate: string;
}

export interface BilledInvoice {
  readonly id: string;
  readonly invoiceNo: string;
  readonly accountId: string;
  readonly invoiceType: string;
  readonly invoiceStatus: string;
  readonly paymentStatus: string;
  readonly amount: number;
  readonly taxAmount: number;
  readonly balance: number;
  readonly currency: string;
  readonly items: readonly BilledItem[];
  readonly nextItemOffset: number | null;
}

/** Executes a billing run and answers with its execution. */
export async function executeRun(tenant: TestTenant, data: object) {
  const { body } = await tenant.post('/v1/workflows/billing-run/execute', { data }).expect(200);
  return body;
}

/** Bills a period, and answers with what the run says. */
export async function runBilling(
  tenant: TestTenant,
  periodStart: string,
  periodEnd: string,
  more: object = {},
): Promise<RunOutput> {
  const execution = await executeRun(tenant, { periodStart, periodEnd, ...more });
  expect(execution.status, JSON.stringify(execution.error)).to.equal('completed');
  return execution.output as RunOutput;
}

export async function readInvoice(tenant: TestTenant, id: string): Promise<BilledInvoice> {
  return (await tenant.get(`${external}/invoices/${id}`).expect(200)).body as BilledInvoice;
}

/** The invoices of a run, in the order of their numbers. */
export async function invoicesOf(
  tenant: TestTenant,
  { invoiceIds }: RunOutput,
): Promise<BilledInvoice[]> {
  const invoices = [];
  for (const id of invoiceIds) invoices.push(await readInvoice(tenant, id));
  return invoices;
}

/** Items in short: `description days amount`. */
export const itemLines = ({ items }: BilledInvoice): string[] =>
  items.map(
    ({ description, billStartDate, billEndDate, amount }) =>
      `${description} ${billStartDate}..${billEndDate} ${amount}`,
  );

/** Sizes with which a run over five accounts goes on in another history twice. */
export const smallSizes = { page: 2, batch: 1, concurrency: 2, pages: 1 } as const;

/** Five accounts in the order of their ids, the n-th with n events of 1 in March; the first has a line without a price too. */
export async function fiveAccounts(tenant: TestTenant): Promise<string[]> {
  const calls = await createService(tenant, 'Calls');
  const unpriced = await createService(tenant, 'Plan', {
    serviceType: 'Subscription',
    rateCards: [],
  });
  const ids: string[] = [];
  for (const events of [1, 2, 3, 4, 5]) {
    const name = `account ${events}`;
    ids.push(await createAccount(tenant, name));
    await send(tenant, ...Array.from({ length: events }, () => usage(name, calls)));
  }
  await tenant
    .post(`${external}/contracts`, {
      masterAccountId: ids[0],
      name: 'C',
      services: [{ serviceId: unpriced, startDate: '2026-03-01' }],
    })
    .expect(201);
  await waitUntilRated(tenant, 15);
  return ids;
}
