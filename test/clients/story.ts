import { readInvoice, runBilling } from '../support/billing/billing-run.js';
import type { TestInstance, TestTenant } from '../support/servers/instance.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';

/** A tenant whose account acme was billed for March: 300 calls at 0.01. */
export async function billedUsage(
  instance: TestInstance,
): Promise<{ tenant: TestTenant; serviceId: string; invoiceNo: string }> {
  const tenant = await instance.tenant();
  await createAccount(tenant, 'acme');
  const serviceId = await createService(tenant, 'Calls');
  await send(tenant, usage('acme', serviceId, { dimensions: { api_calls: '300' } }));
  await waitUntilRated(tenant, 1);
  const { invoiceIds } = await runBilling(tenant, '2026-03-01', '2026-03-31');
  const { invoiceNo } = await readInvoice(tenant, invoiceIds[0] ?? '');
  return { tenant, serviceId, invoiceNo };
}

/** What each client prints: 250 calls cost 2.50, and the invoice is 300 x 0.01. */
export const printedByClients = (invoiceNo: string): string[] => [
  'published true',
  'rated 2.50 USD',
  `${invoiceNo} 3.00 API calls`,
];
