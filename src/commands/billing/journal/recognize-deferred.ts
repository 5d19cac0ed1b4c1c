import type { Knex } from 'knex';
import type { Scope } from '../../../kernel/scope.js';
import { utcDate } from '../../../kernel/time/date.js';
import { journalDifferencesSql } from '../../../models/billing/journal.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** Days that one transaction recognizes. */
const daysMax = 31;

/** Holds the state of a tenant's journal until the transaction ends: charges that are booked wait. */
const holdSql = `select recognized_until::text as "recognizedUntil", opened_at as "openedAt"
  from journal_state where tenant_id = :tenantId for update`;

interface JournalState {
  readonly recognizedUntil: string;
  readonly openedAt: Date | null;
}

/** The next days to recognize: from the first one on of which something is deferred. */
const daysSql = `
  select least(first_day, :today::date)::text as "from",
    least(first_day + ${daysMax}, :today::date)::text as until
  from (
    select greatest(:from::date, coalesce(min(bill_start_date), :today::date)) as first_day
    from recurring_charge
    where tenant_id = :tenantId and voided_at is null and charge_type = 'Subscription'
      and bill_end_date >= :from::date
  ) as days`;

interface Days {
  readonly from: string;
  readonly until: string;
}

/** A day's part of what is deferred, as an entry of its last instant for each account, so that a month has all its days. */
const recognizeSql = `
  insert into journal_entry (tenant_id, at, kind, account_id, currency, accounts, amounts)
  select :tenantId, (day + 1)::timestamp at time zone 'UTC' - interval '1 microsecond', 'recognition', account_id, currency,
    array['deferred', case when usage_type = 'Payout' then 'payouts' else 'revenue' end],
    array[amount, -amount]
  from (
    select day.day::date as day, account_id, currency, usage_type,
      sum(case when usage_type = 'Payout' then -1 else 1 end * (
        journal_recognized(charge_type, amount, bill_start_date, bill_end_date, day.day::date + 1)
        - journal_recognized(charge_type, amount, bill_start_date, bill_end_date, day.day::date)
      )) as amount
    from recurring_charge cross join
      generate_series(:from::date::timestamp, :until::date::timestamp - interval '1 day', '1 day')
        as day (day)
    where tenant_id = :tenantId and voided_at is null and charge_type = 'Subscription'
      and bill_end_date >= :from::date and bill_start_date < :until::date
      and day.day >= bill_start_date and day.day <= bill_end_date
    group by 1, 2, 3, 4
  ) as earned where amount <> 0`;

/**
 * What there was when the journal began: the difference between the books and the journal, which has
 * what was booked since. So it does not matter what happens meanwhile.
 */
const openSql = `
  insert into journal_entry (tenant_id, at, kind, account_id, currency, accounts, amounts)
  select :tenantId, journal_now(:tenantId), 'opening', account_id, currency,
    array_agg(account order by account)
      || case when sum(amount) = 0 then '{}' else array['opening'] end,
    array_agg(amount order by account)
      || case when sum(amount) = 0 then '{}' else array[-sum(amount)] end
  from (
    select account_id, currency, account, computed - recorded as amount
    from (${journalDifferencesSql}) as differences
  ) as missing
  group by account_id, currency`;

/**
 * Recognizes the deferred revenue of days that are over, and opens a journal that is younger than its
 * books (docs/decisions/0400). False: there is nothing more to do.
 */
export const keepJournal = ({ db, tenantId, now }: Scope): Promise<boolean> =>
  db.transaction(async (trx) => {
    const today = utcDate(now());
    // A statement of its own: the next one sees what was committed before the lock.
    const [state] = await sqlRows<JournalState>(trx, holdSql, { tenantId });
    if (!state) return false;
    if (state.openedAt === null && (await openJournal(trx, tenantId))) return true;
    if (state.recognizedUntil >= today) return false;
    const [days] = await sqlRows<Days>(trx, daysSql, {
      tenantId,
      today,
      from: state.recognizedUntil,
    });
    if (!days) return false;
    const { from, until } = days;
    await sqlRows(trx, recognizeSql, { tenantId, from, until });
    await sqlRows(
      trx,
      'update journal_state set recognized_until = :until::date where tenant_id = :tenantId',
      { tenantId, until },
    );
    return until < today;
  });

/** Whether days are over whose revenue is not recognized yet. */
export async function isJournalBehind({ db, tenantId, now }: Scope): Promise<boolean> {
  const rows = await sqlRows(
    db.read,
    'select 1 from journal_state where tenant_id = ? and recognized_until < ?::date',
    [tenantId, utcDate(now())],
  );
  return rows.length > 0;
}

/** False: the totals of usage are being made again, and it is opened after that. */
async function openJournal(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  const rebuilds = await sqlRows(trx, 'select 1 from usage_total_rebuild where tenant_id = ?', [
    tenantId,
  ]);
  if (rebuilds.length > 0) return false;
  await sqlRows(trx, openSql, { tenantId });
  await sqlRows(trx, 'update journal_state set opened_at = now() where tenant_id = ?', [tenantId]);
  return true;
}

/** Tenants whose journal has something to do; read with the platform's handle. */
export async function listJournalsToKeep(
  platform: Knex,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await sqlRows<{ tenantId: string }>(
    platform,
    `select tenant_id as "tenantId" from journal_state as state
     left join tenant_clock as clock using (tenant_id)
     where recognized_until < coalesce((clock.stands_at at time zone 'UTC')::date, :today::date)
       or opened_at is null
     order by recognized_until limit :limit`,
    { today: utcDate(now), limit },
  );
  return rows.map(({ tenantId }) => tenantId);
}
