import type { Knex } from 'knex';
import { Decimal } from '../../kernel/numbers/money.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';

export const entryKinds = [
  'grant',
  'draw',
  'return',
  'hold',
  'release',
  'expire',
  'revoke',
] as const;
export type EntryKind = (typeof entryKinds)[number];

export interface WalletEntryRow {
  readonly walletId: string;
  /** Counted from 1 in the wallet, without gaps. */
  readonly number: number;
  readonly kind: EntryKind;
  /** Moves the balance; 0 of holds and releases. */
  readonly amount: string;
  readonly held: string | null;
  readonly balanceAfter: string;
  readonly grantId: string;
  readonly chargeId: string | null;
  readonly holdId: string | null;
  readonly at: Date;
}

const table = new BulkTable<WalletEntryRow>('wallet_entry', {
  walletId: 'uuid',
  number: 'bigint',
  kind: 'text',
  amount: 'numeric',
  held: 'numeric',
  balanceAfter: 'numeric',
  grantId: 'uuid',
  chargeId: 'uuid',
  holdId: 'uuid',
  at: 'timestamptz',
});

/** What a grant has paid of a charge; decimal text. */
export interface ChargeCredit {
  readonly chargeId: string;
  readonly walletId: string;
  readonly grantId: string;
  readonly externalId: string;
  readonly kind: 'purchased' | 'promotional';
  readonly amount: string;
}

/** A line of the ledger of a wallet: entries are only added, and their sum is the balance. */
export class WalletEntry extends TenantModel {
  static override tableName = 'wallet_entry';
  static override idColumn = ['tenantId', 'walletId', 'number'];

  declare walletId: string;
  /** A `bigint`, so text. */
  declare number: string;
  declare kind: EntryKind;
  /** Amounts are decimal text. */
  declare amount: string;
  declare held: string | null;
  declare balanceAfter: string;
  declare grantId: string;
  declare chargeId: string | null;
  declare holdId: string | null;
  declare at: Date;

  static insertMany(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly WalletEntryRow[],
  ): Promise<void> {
    return table.insert(trx, tenantId, rows);
  }

  static inserting(tenantId: string, rows: readonly WalletEntryRow[]): BulkStatement | null {
    return table.inserting(tenantId, rows);
  }

  /** What grants have paid of charges, in the order in which they did. */
  static credits(
    db: Knex,
    tenantId: string,
    chargeIds: readonly string[],
  ): Promise<ChargeCredit[]> {
    return sqlRows<ChargeCredit>(
      db,
      `select entry.charge_id as "chargeId", entry.wallet_id as "walletId",
         entry.grant_id as "grantId", given.external_id as "externalId", given.kind,
         trim_scale(-sum(entry.amount)) as amount
       from wallet_entry as entry join wallet_grant as given
         on given.tenant_id = entry.tenant_id and given.id = entry.grant_id
       where entry.tenant_id = ? and entry.charge_id = any(?::uuid[])
       group by 1, 2, 3, 4, 5 having sum(entry.amount) <> 0
       order by 1, min(entry.at), min(entry.number)`,
      [tenantId, [...chargeIds]],
    );
  }

  /** What has expired or was revoked of grants, by the id of the grant. */
  static async lost(
    db: Knex,
    tenantId: string,
    grantIds: readonly string[],
  ): Promise<ReadonlyMap<string, Decimal>> {
    if (grantIds.length === 0) return new Map();
    const rows = await sqlRows<{ grantId: string; amount: string }>(
      db,
      `select grant_id as "grantId", -sum(amount) as amount from wallet_entry
       where tenant_id = ? and grant_id = any(?::uuid[]) and kind in ('expire', 'revoke')
         and charge_id is null and hold_id is null
       group by 1`,
      [tenantId, [...grantIds]],
    );
    return new Map(rows.map(({ grantId, amount }) => [grantId, new Decimal(amount)]));
  }
}
