import type { Knex } from 'knex';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';
import { isFencedSql } from '../access/tenant.js';

/** Where a wallet stands, as a statement reads it: amounts are decimal text. */
export interface WalletBalanceRow {
  readonly walletId: string;
  readonly accountId: string;
  readonly currency: string | null;
  readonly isActive: boolean;
  readonly balance: string;
  readonly held: string;
  /** A `bigint`, so text. */
  readonly lastEntry: string;
  readonly dueAt: Date | null;
}

/** What a movement changes of it. */
export interface MovedBalance {
  readonly walletId: string;
  readonly balance: string;
  readonly held: string;
  readonly lastEntry: number;
  readonly dueAt: Date | null;
  /** The instant of the last entry. */
  readonly movedAt: Date;
}

/** Whose wallets are asked for. */
export interface AccountCurrency {
  readonly accountId: string;
  readonly currency: string;
}

const moved = new BulkTable<MovedBalance>('wallet_balance', {
  walletId: 'uuid',
  balance: 'numeric',
  held: 'numeric',
  lastEntry: 'bigint',
  dueAt: 'timestamptz',
  movedAt: 'timestamptz',
});

const columns = `wallet_id as "walletId", account_id as "accountId", currency,
  is_active as "isActive", balance, held, last_entry as "lastEntry", due_at as "dueAt"`;

const ofAccountsSql = '(account_id, currency) in (select * from unnest(?::uuid[], ?::text[]))';

const accountBindings = (accounts: readonly AccountCurrency[]): string[][] => [
  accounts.map(({ accountId }) => accountId),
  accounts.map(({ currency }) => currency),
];

/** SQL for what of a wallet is shown of its ledger, over the columns of earlier versions. */
export const balanceColumnsSql = `*,
  coalesce((select own.balance from wallet_balance as own
    where own.tenant_id = wallet.tenant_id and own.wallet_id = wallet.id), 0) as balance,
  coalesce((select own.balance - own.held from wallet_balance as own
    where own.tenant_id = wallet.tenant_id and own.wallet_id = wallet.id), 0) as available_balance,
  coalesce((select own.held from wallet_balance as own
    where own.tenant_id = wallet.tenant_id and own.wallet_id = wallet.id), 0) as reserved_balance`;

/**
 * The row that everything that moves the balance of a wallet locks. Rows are locked in the order of
 * their wallets' ids, after everything else of a transaction but the numbers of invoices, and for the
 * milliseconds until its commit.
 */
export class WalletBalance extends TenantModel {
  static override tableName = 'wallet_balance';
  static override idColumn = ['tenantId', 'walletId'];

  declare walletId: string;
  declare accountId: string;
  declare currency: string | null;
  declare isActive: boolean;
  declare balance: string;
  declare held: string;
  /** Whether it was topped up, and its balance has not risen to the threshold since. */
  declare isToppedUp: boolean;

  /** Makes the row of a wallet that gets its first grant. */
  static async open(
    trx: Knex.Transaction,
    tenantId: string,
    wallet: { readonly id: string } & Pick<WalletBalanceRow, 'accountId' | 'currency' | 'isActive'>,
  ): Promise<void> {
    const { id, accountId, currency, isActive } = wallet;
    await sqlRows(
      trx,
      `insert into wallet_balance (tenant_id, wallet_id, account_id, currency, is_active)
       values (?, ?, ?, ?, ?) on conflict do nothing`,
      [tenantId, id, accountId, currency, isActive],
    );
  }

  static lockWallets(
    trx: Knex.Transaction,
    tenantId: string,
    walletIds: readonly string[],
  ): Promise<WalletBalanceRow[]> {
    return sqlRows<WalletBalanceRow>(
      trx,
      `select ${columns} from wallet_balance
       where tenant_id = ? and wallet_id = any(?::uuid[])
       order by wallet_id for no key update`,
      [tenantId, [...walletIds]],
    );
  }

  /** The wallets of accounts that hold money, or will by now; inactive ones where it is promised. */
  static withMoney(
    trx: Knex.Transaction,
    tenantId: string,
    accounts: readonly AccountCurrency[],
    now: Date,
  ): Promise<WalletBalanceRow[]> {
    return sqlRows<WalletBalanceRow>(
      trx,
      `select ${columns} from wallet_balance
       where tenant_id = ? and (is_active and (balance > 0 or due_at <= ?) or held > 0)
         and ${ofAccountsSql}
       order by wallet_id for no key update`,
      [tenantId, now, ...accountBindings(accounts)],
    );
  }

  /** All wallets of accounts that were ever given money: they may get some of it back. */
  static ofAccounts(
    trx: Knex.Transaction,
    tenantId: string,
    accounts: readonly AccountCurrency[],
    mode: 'lock' | 'preview',
  ): Promise<WalletBalanceRow[]> {
    return sqlRows<WalletBalanceRow>(
      trx,
      `select ${columns} from wallet_balance where tenant_id = ? and ${ofAccountsSql}
       order by wallet_id ${mode === 'lock' ? 'for no key update' : ''}`,
      [tenantId, ...accountBindings(accounts)],
    );
  }

  static moving(tenantId: string, rows: readonly MovedBalance[]): BulkStatement | null {
    return moved.updating(tenantId, 'walletId', rows);
  }

  /** The wallets of a tenant whose grants take effect or expire by now, the longest due first. */
  static async dueWallets(db: Knex, tenantId: string, now: Date, limit: number): Promise<string[]> {
    const rows = await sqlRows<{ id: string }>(
      db,
      `select wallet_id as id from wallet_balance
       where tenant_id = ? and due_at <= ? order by due_at limit ?`,
      [tenantId, now, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** Which of these wallets have grants that take effect or expire by now. */
  static async due(
    db: Knex,
    tenantId: string,
    walletIds: readonly string[],
    now: Date,
  ): Promise<string[]> {
    const rows = await sqlRows<{ id: string }>(
      db,
      `select wallet_id as id from wallet_balance
       where tenant_id = ? and wallet_id = any(?::uuid[]) and due_at <= ?`,
      [tenantId, [...walletIds], now],
    );
    return rows.map(({ id }) => id);
  }
}

/** Whether something of an account's wallets or holds falls due by now. */
export async function isDue(
  db: Knex,
  tenantId: string,
  { accountId, currency }: AccountCurrency,
  now: Date,
): Promise<boolean> {
  const [row] = await sqlRows<{ isDue: boolean }>(
    db,
    `select exists (
       select from wallet_balance where tenant_id = :tenantId and account_id = :accountId
         and currency = :currency and due_at <= :now
     ) or exists (
       select from wallet_hold where tenant_id = :tenantId and account_id = :accountId
         and currency = :currency and release_at <= :now
     ) as "isDue"`,
    { tenantId, accountId, currency, now },
  );
  return row?.isDue ?? false;
}

/** SQL for whether a tenant has the real time; what falls due of a sandbox is done by its clock. */
const hasRealTimeSql = (id: string): string =>
  `not exists (select from tenant_clock as clock where clock.tenant_id = ${id})`;

/** The tenants of a server with something that falls due by now; `platform` is for all tenants. */
export async function listDueTenants(platform: Knex, now: Date, limit: number): Promise<string[]> {
  const rows = await sqlRows<{ id: string }>(
    platform,
    `select distinct tenant_id as id from (
       (select tenant_id from wallet_balance
        where due_at <= :now and not ${isFencedSql('wallet_balance.tenant_id')}
          and ${hasRealTimeSql('wallet_balance.tenant_id')}
        order by due_at limit :limit)
       union all
       (select tenant_id from wallet_hold
        where release_at <= :now and not ${isFencedSql('wallet_hold.tenant_id')}
          and ${hasRealTimeSql('wallet_hold.tenant_id')}
        order by release_at limit :limit)
     ) as due`,
    { now, limit },
  );
  return rows.map(({ id }) => id);
}

/** When the next grant of a tenant takes effect or expires, and the next hold ends; null: none does. */
export async function nextBalanceDues(
  db: Knex,
  tenantId: string,
): Promise<{ readonly grants: Date | null; readonly holds: Date | null }> {
  const [row] = await sqlRows<{ grants: Date | null; holds: Date | null }>(
    db,
    `select
       (select min(due_at) from wallet_balance where tenant_id = :tenantId) as grants,
       (select min(release_at) from wallet_hold where tenant_id = :tenantId) as holds`,
    { tenantId },
  );
  return row ?? { grants: null, holds: null };
}
