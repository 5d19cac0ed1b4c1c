import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import type { AccountCurrency } from './wallet-balance.js';

export const holdStatuses = ['open', 'committing', 'committed', 'released', 'expired'] as const;
export type HoldStatus = (typeof holdStatuses)[number];

/** A hold that is made. */
export interface NewHold {
  readonly id: string;
  readonly accountId: string;
  readonly currency: string;
  readonly amount: string;
  readonly key: string;
  readonly contentId: string;
  readonly parts: WalletHold['parts'];
  readonly status: 'open';
  readonly expiresAt: Date;
  readonly releaseAt: Date;
  readonly createdAt: Date;
}

/** What is shown of a hold, and what it was asked with. */
export type KnownHold = Pick<
  WalletHold,
  'id' | 'accountId' | 'currency' | 'amount' | 'key' | 'contentId' | 'status' | 'expiresAt'
>;

const table = new BulkTable<Omit<NewHold, 'parts'> & { readonly parts: string }>('wallet_hold', {
  id: 'uuid',
  accountId: 'uuid',
  currency: 'text',
  amount: 'numeric',
  key: 'text',
  contentId: 'uuid',
  parts: 'jsonb',
  status: 'text',
  expiresAt: 'timestamptz',
  releaseAt: 'timestamptz',
  createdAt: 'timestamptz',
});

/** Money of an account that is promised to what it is going to use. */
export class WalletHold extends TenantModel {
  static override tableName = 'wallet_hold';
  static override jsonAttributes = ['parts'];

  declare accountId: string;
  declare currency: string;
  /** Amounts are decimal text. */
  declare amount: string;
  /** The caller's own key of it, unique. */
  declare key: string;
  declare contentId: string;
  declare parts: readonly {
    readonly grantId: string;
    readonly walletId: string;
    readonly amount: string;
  }[];
  declare status: HoldStatus;
  declare expiresAt: Date;
  /** Null when it has ended. */
  declare releaseAt: Date | null;
  declare externalId: string | null;
  declare messageId: string | null;
  declare createdAt: Date;
  declare endedAt: Date | null;

  static inserting(tenantId: string, holds: readonly NewHold[]): BulkStatement | null {
    const rows = holds.map((hold) => ({ ...hold, parts: JSON.stringify(hold.parts) }));
    return table.inserting(tenantId, rows);
  }

  /**
   * The holds with these keys. In the same round trip the transaction is told the requests of holds
   * that it will make, for their audit: `trails` is JSON, {id: [actor, request, caller's request]}.
   */
  static async ofKeys(
    trx: Knex.Transaction,
    tenantId: string,
    keys: readonly string[],
    trails: string,
  ): Promise<KnownHold[]> {
    const rows = await sqlRows<Omit<KnownHold, 'id'> & { readonly id: string | null }>(
      trx,
      `select hold.id, account_id as "accountId", currency, amount, key, content_id as "contentId",
         status, expires_at as "expiresAt"
       from set_config('app.trails', ?, true) as told
         left join wallet_hold as hold on tenant_id = ? and key = any(?::text[])`,
      [trails, tenantId, [...keys]],
    );
    return rows.filter((row): row is KnownHold => row.id !== null);
  }

  /** The holds of an account whose time is over, the longest first; the caller has its wallets. */
  static due(
    trx: Knex,
    tenantId: string,
    { accountId, currency }: AccountCurrency,
    { now, limit }: { readonly now: Date; readonly limit: number },
  ): Promise<WalletHold[]> {
    return WalletHold.query(trx)
      .forTenant(tenantId)
      .where({ accountId, currency })
      .where('releaseAt', '<=', now)
      .orderBy('releaseAt')
      .limit(limit)
      .execute();
  }

  /** The accounts of a tenant with holds whose time is over. */
  static dueAccounts(
    db: Knex,
    tenantId: string,
    now: Date,
    limit: number,
  ): Promise<AccountCurrency[]> {
    return sqlRows<AccountCurrency>(
      db,
      `select distinct account_id as "accountId", currency from (
         select account_id, currency from wallet_hold
         where tenant_id = ? and release_at <= ? order by release_at limit ?
       ) as due`,
      [tenantId, now, limit],
    );
  }

  /** The holds that events of these external ids commit; the caller has the wallets. */
  static committing(
    trx: Knex,
    tenantId: string,
    accountIds: readonly string[],
    externalIds: readonly string[],
  ): Promise<WalletHold[]> {
    return WalletHold.query(trx)
      .forTenant(tenantId)
      .whereNotNull('releaseAt')
      .where({ status: 'committing' })
      .whereRaw('account_id = any(?::uuid[])', [[...accountIds]])
      .whereRaw('external_id = any(?::text[])', [[...externalIds]])
      .execute();
  }

  static async end(
    trx: Knex,
    tenantId: string,
    ids: readonly string[],
    { status, endedAt }: { readonly status: HoldStatus; readonly endedAt: Date },
  ): Promise<void> {
    if (ids.length === 0) return;
    await WalletHold.query(trx)
      .forTenant(tenantId)
      .whereRaw('id = any(?::uuid[])', [[...ids]])
      .patch({ status, endedAt, releaseAt: null });
  }
}
