import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { periodOf, type Period } from '../../kernel/time/period.js';
import { Account } from '../../models/accounts/account.js';
import { RecurringCharge } from '../../models/billing/recurring-charge.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import type * as schema from '../../schemas/balances/hold.js';
import { listUsageTotals } from '../usage/totals/usage-total.js';

type AccountBalanceDto = Static<typeof schema.AccountBalance>;

interface BalanceRow {
  readonly balance: string;
  readonly held: string;
  readonly available: string;
}

/** An account. 404: there is none. */
export async function requireAccount(
  { db, tenantId }: Scope,
  accountId: string,
): Promise<Pick<Account, 'defaultCurrency'>> {
  const account = await Account.query(db.read)
    .forTenant(tenantId)
    .existing()
    .findById(accountId)
    .select('defaultCurrency');
  if (!account) throw problem.notFound(`There is no account '${accountId}'.`);
  return account;
}

/** The currencies of an account's wallets, and its own. 404: there is no such account. */
export async function chooseCurrency(
  scope: Scope,
  accountId: string,
  given: string | undefined,
): Promise<string> {
  const { db, tenantId } = scope;
  const account = await requireAccount(scope, accountId);
  if (given !== undefined) return given;
  const rows = await sqlRows<{ currency: string }>(
    db.read,
    `select distinct currency from wallet
     where tenant_id = ? and account_id = ? and deleted_at is null and currency is not null
     order by 1`,
    [tenantId, accountId],
  );
  const [only = account.defaultCurrency, ...others] = rows.map(({ currency }) => currency);
  if (only !== null && others.length === 0) return only;
  throw problem.validation(
    only === null
      ? "'currency' is needed: the account has no wallet, and no currency of its own"
      : `'currency' is needed: the wallets of the account are in ${[only, ...others].join(', ')}`,
    { field: 'currency' },
  );
}

/** What an account has in a currency, what of it is held, and what it has spent this month. */
export async function readAccountBalance(
  scope: Scope,
  accountId: string,
  currency: string,
): Promise<AccountBalanceDto> {
  const { db, tenantId, now } = scope;
  const [row] = await sqlRows<BalanceRow>(
    db.read,
    `select coalesce(sum(own.balance), 0) as balance, coalesce(sum(own.held), 0) as held,
       coalesce(sum(free.amount), 0) as available
     from wallet_balance as own left join lateral (
       select sum(rest - held) as amount from wallet_grant as given
       where given.tenant_id = own.tenant_id and given.wallet_id = own.wallet_id and is_open
         and entered_at is not null and expired_at is null and revoked_at is null
         and service_ids is null
     ) as free on true
     where own.tenant_id = ? and own.account_id = ? and own.currency = ? and own.is_active`,
    [tenantId, accountId, currency],
  );
  const today = utcDate(now());
  const month = periodOf('Monthly', today);
  return {
    accountId,
    currency,
    balance: new Decimal(row?.balance ?? 0),
    held: new Decimal(row?.held ?? 0),
    available: new Decimal(row?.available ?? 0),
    spent: { period: today.slice(0, 7), amount: await sumSpent(scope, accountId, currency, month) },
  };
}

/** The sum of the charges of an account in a period, before credits. */
async function sumSpent(
  scope: Scope,
  accountId: string,
  currency: string,
  { start, end }: Period,
): Promise<Decimal> {
  const { items } = await listUsageTotals(scope, {
    from: start,
    to: end,
    bucket: 'none',
    account: accountId,
    usageType: 'Charge',
    limit: 1_000,
    offset: 0,
  });
  const usage = items.find((total) => total.currency === currency)?.amount ?? ZERO;
  const recurring = await RecurringCharge.sumOfPeriod(scope.db.read, scope.tenantId, {
    accountId,
    contractId: null,
    serviceId: null,
    currency,
    start,
    end,
  });
  return usage.plus(recurring);
}
