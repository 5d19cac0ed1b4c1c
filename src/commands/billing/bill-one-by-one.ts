import { Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { tookTooLong } from '../../kernel/sql-state.js';
import type { BillingProblem } from '../../messages/billing-run.js';
import { databaseProblem } from '../rules/database-problem.js';
import { billAccounts, type BillAccounts, type BilledAccounts } from './bill-accounts.js';
import { TooManyCharges } from './charge-limit.js';

/**
 * Called with errors that are faults of the product, and the number of accounts billed together.
 */
type OnFault = (error: unknown, accounts: number) => void;

/**
 * A problem of the request, or an unavailable database: the step as a whole is retried or fails.
 */
const concernsAll = (error: unknown): boolean =>
  (error instanceof Problem || databaseProblem(error) !== undefined) && !tookTooLong(error);

/**
 * Bills accounts together. When that fails, the batch is halved until the failing account is found,
 * and the others are billed: a fault that concerns one account must not stop the rest.
 */
export async function billEach(
  scope: Scope,
  request: BillAccounts,
  onFault: OnFault,
): Promise<BilledAccounts> {
  try {
    return await billAccounts(scope, request);
  } catch (error) {
    if (concernsAll(error)) throw error;
    const isTooMany = error instanceof TooManyCharges;
    const { accountIds } = request;
    if (!isTooMany) onFault(error, accountIds.length);
    const [only] = accountIds;
    if (only !== undefined && accountIds.length === 1) {
      return {
        invoices: [],
        problems: [isTooMany ? tooManyOf(only, error) : faultOf(only)],
        owed: [],
      };
    }
    const middle = Math.ceil(accountIds.length / 2);
    const results: BilledAccounts[] = [];
    for (const half of [accountIds.slice(0, middle), accountIds.slice(middle)]) {
      results.push(await billEach(scope, { ...request, accountIds: half }, onFault));
    }
    return {
      invoices: results.flatMap(({ invoices }) => invoices),
      problems: results.flatMap(({ problems }) => problems),
      owed: results.flatMap(({ owed }) => owed),
    };
  }
}

const faultOf = (accountId: string): BillingProblem => ({
  accountId,
  contractServiceId: null,
  chargeType: null,
  periodStart: null,
  code: 'INTERNAL_ERROR',
  message: 'Billing this account failed because of an error on our side; it can be run again.',
});

const tooManyOf = (accountId: string, { message }: TooManyCharges): BillingProblem => ({
  accountId,
  contractServiceId: null,
  chargeType: null,
  periodStart: null,
  code: 'TOO_MANY_CHARGES',
  message,
});
