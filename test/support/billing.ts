import { expect } from 'chai';
import { external, type TestTenant } from './instance.js';

/** What a billing run puts out. */
export interface RunOutput {
  readonly invoiceCount: number;
  readonly invoiceIds: readonly string[];
  readonly transactionCount: number;
  readonly problemCount: number;
  readonly problems: readonly { readonly code: string; readonly message: string }[];
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
