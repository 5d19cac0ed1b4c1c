import type { Static } from 'typebox';
import { Decimal, sum } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type * as schema from '../../../schemas/billing/journal.js';
import { readInstantOf } from '../../lists/time-range.js';

type TrialBalanceDto = Static<typeof schema.TrialBalance>;

/** Usage that is not in the journal yet, as the trigger `journal_usage` will book it. */
const waitingSql = `
  select posting.account, part.currency, part.usage_type = 'Payout' as is_payout, one.amount
  from usage_change as change
    cross join unnest(change.combination_ids, change.positions, change.amounts)
      as one (combination_id, position, amount)
    join usage_combination_part as part on part.tenant_id = change.tenant_id
      and part.combination_id = one.combination_id and part.position = one.position
    cross join (values ('unbilled'), ('other')) as posting (account)
  where change.tenant_id = :tenantId and part.attribute_name is null
    and (:before::timestamptz is null or coalesce((
      select stands_at from tenant_clock where tenant_id = :tenantId
    ), change.added_at) < :before)
    and (:accountId::uuid is null or part.account_id = :accountId)`;

/**
 * Sums of the entries and of what waits, in one statement, so that a charge is in one of them. An
 * entry of usage debits one account and credits another: what waits is summed the same way.
 */
const balancesSql = `
  select account, currency, sum(greatest(amount, 0)) as debit, sum(greatest(-amount, 0)) as credit
  from (
    select posting.account, entry.currency, posting.amount
    from journal_entry as entry cross join unnest(accounts, amounts) as posting (account, amount)
    where entry.tenant_id = :tenantId
      and (:before::timestamptz is null or entry.at < :before)
      and (:accountId::uuid is null or entry.account_id = :accountId)
    union all
    select case when account = 'unbilled' then account when is_payout then 'payouts'
        else 'revenue' end,
      currency, case when (account = 'unbilled') = is_payout then -sum(amount) else sum(amount) end
    from (${waitingSql}) as waiting group by account, currency, is_payout
  ) as posted
  where amount <> 0
  group by account, currency order by currency, account`;

interface BalanceRow {
  readonly account: schema.JournalAccount;
  readonly currency: string;
  readonly debit: string;
  readonly credit: string;
}

/**
 * The balances of all accounts of the ledger (spec/beyond.md R303): now, or before an instant of the
 * past, which counts as the beginning of its minute, since usage is booked by minutes.
 */
export async function readTrialBalance(
  { db, tenantId, now }: Scope,
  { at, accountId }: { readonly at?: string | undefined; readonly accountId?: string | undefined },
): Promise<TrialBalanceDto> {
  const asked = readInstantOf(at);
  const before = asked === null || asked >= now() ? null : minuteOf(asked);
  const rows = await sqlRows<BalanceRow>(db.read, balancesSql, {
    tenantId,
    before,
    accountId: accountId ?? null,
  });
  const [state] = await sqlRows<{ day: string }>(
    db.read,
    `select recognized_until::text as day from journal_state where tenant_id = ?`,
    [tenantId],
  );
  const accounts = rows.map(({ account, currency, ...row }) => {
    const [debit, credit] = [new Decimal(row.debit), new Decimal(row.credit)];
    return { account, currency, debit, credit, balance: debit.minus(credit) };
  });
  const currencies = [...new Set(accounts.map(({ currency }) => currency))];
  return {
    at: (before ?? now()).toISOString(),
    recognizedUntil: state?.day ?? null,
    accounts,
    totals: currencies.map((currency) => {
      const own = accounts.filter((one) => one.currency === currency);
      return {
        currency,
        debit: sum(own.map(({ debit }) => debit)),
        credit: sum(own.map(({ credit }) => credit)),
      };
    }),
  };
}

const minuteMs = 60_000;
const minuteOf = (instant: Date): Date =>
  new Date(Math.floor(instant.getTime() / minuteMs) * minuteMs);
