import type { Knex } from 'knex';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';
import { TenantModel } from '../db/tenant-model.js';

/** What a movement changes of a grant. */
export interface MovedGrant {
  readonly id: string;
  readonly rest: string;
  readonly held: string;
  readonly enteredAt: Date | null;
  readonly expiredAt: Date | null;
  readonly revokedAt: Date | null;
  readonly isOpen: boolean;
}

const moved = new BulkTable<MovedGrant>('wallet_grant', {
  id: 'uuid',
  rest: 'numeric',
  held: 'numeric',
  enteredAt: 'timestamptz',
  expiredAt: 'timestamptz',
  revokedAt: 'timestamptz',
  isOpen: 'boolean',
});

/** The columns by the names of the model. */
const columns = `id, wallet_id as "walletId", external_id as "externalId", kind, amount, priority,
  effective_from as "effectiveFrom", expires_at as "expiresAt", service_ids as "serviceIds", rest,
  held, entered_at as "enteredAt", expired_at as "expiredAt", revoked_at as "revokedAt",
  is_open as "isOpen", created_at as "createdAt"`;

export type WalletGrantRow = Pick<
  WalletGrant,
  | 'id'
  | 'walletId'
  | 'externalId'
  | 'kind'
  | 'amount'
  | 'priority'
  | 'effectiveFrom'
  | 'expiresAt'
  | 'serviceIds'
  | 'rest'
  | 'held'
  | 'enteredAt'
  | 'expiredAt'
  | 'revokedAt'
  | 'isOpen'
  | 'createdAt'
>;

/** Money that a wallet was given, and what is left of it. */
export class WalletGrant extends TenantModel {
  static override tableName = 'wallet_grant';

  declare walletId: string;
  /** Unique in the wallet. */
  declare externalId: string;
  declare kind: 'purchased' | 'promotional';
  /** Amounts are decimal text. */
  declare amount: string;
  /** Grants are used in the order of `byUse`, rating/stages/credit-from-grants.ts. */
  declare priority: number;
  declare effectiveFrom: Date;
  declare expiresAt: Date | null;
  declare serviceIds: readonly string[] | null;
  declare paymentId: string | null;
  /** Names what was asked for. */
  declare contentId: string | null;
  declare rest: string;
  declare held: string;
  declare enteredAt: Date | null;
  declare expiredAt: Date | null;
  declare revokedAt: Date | null;
  declare isOpen: boolean;
  declare createdAt: Date;

  /** The open grants of wallets whose balances the caller has locked, and these of them. */
  static ofWallets(
    trx: Knex.Transaction,
    tenantId: string,
    walletIds: readonly string[],
    alsoIds: readonly string[] = [],
  ): Promise<WalletGrantRow[]> {
    const also = `union
       select ${columns} from wallet_grant
       where tenant_id = :tenantId and id = any(:alsoIds::uuid[])
         and wallet_id = any(:walletIds::uuid[])`;
    return sqlRows<WalletGrantRow>(
      trx,
      `select ${columns} from wallet_grant
       where tenant_id = :tenantId and wallet_id = any(:walletIds::uuid[]) and is_open
       ${alsoIds.length === 0 ? '' : also}`,
      { tenantId, walletIds: [...walletIds], alsoIds: [...alsoIds] },
    );
  }

  static moving(tenantId: string, rows: readonly MovedGrant[]): BulkStatement | null {
    return moved.updating(tenantId, 'id', rows);
  }
}
