import { expect } from 'chai';
import type { TestTenant } from '../servers/instance.js';

interface Trial {
  readonly accounts: readonly { readonly account: string; readonly balance: number }[];
  readonly totals: readonly { readonly debit: number; readonly credit: number }[];
}

/** The accounts of the ledger that do not stand at zero; debits are credits, in each currency. */
export async function openBalances(
  tenant: TestTenant,
  query = '',
): Promise<Record<string, number>> {
  const answer = await tenant.get(`/v1/journal/trial-balance${query}`).expect(200);
  const { accounts, totals } = answer.body as Trial;
  expect(totals.length > 0, 'has totals').to.equal(accounts.length > 0);
  for (const { debit, credit } of totals) expect(debit).to.equal(credit);
  const open = accounts.filter(({ balance }) => balance !== 0);
  return Object.fromEntries(open.map(({ account, balance }) => [account, balance]));
}
