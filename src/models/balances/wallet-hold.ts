import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';
import type { AccountCurrency } from './wallet-balance.js';

export const holdStatuses = ['open', 'committing', 'committed', 'released', 'expired'] as const;
export type HoldStatus = (typeof holdStatuses)[number];

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
