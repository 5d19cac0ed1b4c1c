import type { Knex } from 'knex';
import type { AccountCurrency } from './wallet-balance.js';

/** A hold that is asked for. */
export interface AskedHold extends AccountCurrency {
  readonly id: string;
  readonly key: string;
  /** Names what is asked for. */
  readonly contentId: string;
  /** Decimal text. */
  readonly amount: string;
  readonly expiresInSeconds: number;
}

/** What was made of it. */
export interface MadeHold {
  readonly expiresAt: Date;
  /** What may be held beside it: decimal text. */
  readonly available: string;
}

/**
 * The wallets are locked, then their grants: a row that was waited for is read as it is after the lock.
 * The grants are in their order of use, as `byUse` of `rating` has it, each as far as it goes. What is
 * entered is not before the last entry of its wallets, for whose lock it may have waited.
 *
 * What is updated is written as it was read under the lock, also what stays: PostgreSQL checks the
 * constraints of an update first with what of the row was there when the statement began.
 */
const sql = `
  with asked as (
    select ?::text as tenant_id, ?::uuid as id, ?::uuid as account_id, ?::text as currency,
      ?::text as key, ?::uuid as content_id, ?::numeric as amount,
      ?::integer * interval '1 second' as lasts, ?::timestamptz as now
  ), wallet as materialized (
    select wallet_id, balance, held, last_entry, due_at, moved_at
    from wallet_balance join asked using (tenant_id, account_id, currency)
    where is_active and (balance > held or due_at <= now)
    order by wallet_id for no key update of wallet_balance
  ), free as materialized (
    select id, wallet_id, priority, expires_at, created_at, rest, held, rest - held as amount
    from wallet_grant
    where tenant_id = (select tenant_id from asked)
      and wallet_id = any (array(select wallet_id from wallet))
      and is_open and entered_at is not null and expired_at is null and revoked_at is null
      and service_ids is null and rest > held
    for no key update
  ), part as materialized (
    select id, wallet_id, rest, held, least(free, wanted - before) as amount, nth
    from (
      select free.id, wallet_id, rest, held, free.amount as free, asked.amount as wanted,
        sum(free.amount) over by_use - free.amount as before, row_number() over by_use as nth
      from free cross join asked
      window by_use as (order by priority, expires_at nulls last, created_at, free.id)
    ) as used
    where before < wanted
  ), fact as materialized (
    select (select coalesce(sum(amount), 0) from free) as available,
      coalesce(bool_or(due_at <= now), false) as is_due, greatest(now, max(moved_at)) as at
    from asked left join wallet on true group by now
  ), made as (
    insert into wallet_hold (tenant_id, id, account_id, currency, amount, key, content_id, parts,
      status, expires_at, release_at, created_at)
    select tenant_id, id, account_id, currency, amount, key, content_id,
      (select jsonb_agg(jsonb_build_object('grantId', part.id, 'walletId', wallet_id,
        'amount', trim_scale(part.amount)::text) order by nth) from part),
      'open', at + lasts, at + lasts, at
    from asked cross join fact where available >= amount and not is_due
    on conflict on constraint wallet_hold_key do nothing
    returning tenant_id, id, expires_at, created_at
  ), moved as (
    update wallet_balance as target
    set balance = wallet.balance, held = trim_scale(wallet.held + sums.amount),
      last_entry = wallet.last_entry + sums.count, moved_at = made.created_at
    from made cross join wallet join
      (select wallet_id, sum(amount) as amount, count(*) as count from part group by 1) as sums
      using (wallet_id)
    where target.tenant_id = made.tenant_id and target.wallet_id = wallet.wallet_id
  ), promised as (
    update wallet_grant as target
    set rest = part.rest, held = trim_scale(part.held + part.amount)
    from made cross join part
    where target.tenant_id = made.tenant_id and target.id = part.id
  ), entered as (
    insert into wallet_entry (tenant_id, wallet_id, number, kind, amount, held, balance_after,
      grant_id, hold_id, at)
    select made.tenant_id, wallet_id,
      last_entry + row_number() over (partition by wallet_id order by nth), 'hold', 0,
      trim_scale(part.amount), balance, part.id, made.id, made.created_at
    from made cross join part join wallet using (wallet_id)
  )
  select expires_at as "expiresAt", available - amount as available
  from made cross join fact cross join asked`;

/**
 * Promises money of an account with one statement. Nothing is made, and undefined given, where too
 * little is available, something of its wallets is due, or the key has a hold.
 */
export async function holdAtOnce(
  db: Knex,
  tenantId: string,
  { id, accountId, currency, key, contentId, amount, expiresInSeconds }: AskedHold,
  now: Date,
): Promise<MadeHold | undefined> {
  const values = [tenantId, id, accountId, currency, key, contentId, amount, expiresInSeconds, now];
  // Under a name, because planning it takes several times as long as it does.
  const { rows } = await db
    .raw<{ rows: MadeHold[] }>(sql, values)
    .options({ name: 'hold_at_once' });
  return rows[0];
}
