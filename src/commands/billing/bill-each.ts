import { Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { tookTooLong } from '../../kernel/sql-state.js';
import type { BillingProblem } from '../../messages/billing-run.js';
import { databaseProblem } from '../rules/database-problem.js';
import { billAccounts, type BillAccounts, type BilledAccounts } from './bill-accounts.js';
import { TooManyCharges } from './charge-limit.js';

/** Told of errors of ours, with the number of accounts that were billed together. */
type OnFault = (error: unknown, accounts: number) => void;

/** A problem of the caller's, or of a database that is away: the whole step is tried again, or ends. */
const concernsAll = (error: unknown): boolean =>
  (error instanceof Problem || databaseProblem(error) !== undefined) && !tookTooLong(error);

/**
 * Bills accounts together. Where that fails they are halved until the account is found that it is
 * about, and the others are billed: an account that an error of ours stops must not stop the others.
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
      return { invoices: [], problems: [isTooMany ? tooManyOf(only, error) : faultOf(only)] };
    }
    const middle = Math.ceil(accountIds.length / 2);
    const results: BilledAccounts[] = [];
    for (const half of [accountIds.slice(0, middle), accountIds.slice(middle)]) {
      results.push(await billEach(scope, { ...request, accountIds: half }, onFault));
    }
    return {
      invoices: results.flatMap(({ invoices }) => invoices),
      problems: results.flatMap(({ problems }) => problems),
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
