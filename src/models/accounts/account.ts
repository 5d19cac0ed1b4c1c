import type { Knex } from 'knex';
import { Model } from 'objection';
import type * as schema from '../../schemas/accounts/account.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { Address } from './address.js';
import { sqlRows } from '../db/sql-rows.js';
import { ApprovableRecord } from '../db/tenant-model.js';

export interface Account extends Columns<typeof schema.AccountSummary, 'profile'> {}
export class Account extends ApprovableRecord {
  static override tableName = 'account';
  static override jsonAttributes = ['contactInfoList', 'accountPaymentProfileList', 'profile'];
  static override relationMappings = {
    addresses: {
      relation: Model.HasManyRelation,
      modelClass: Address,
      join: { from: 'account.id', to: 'address.accountId' },
      modify: (builder: { existing(): { orderBy(column: string): void } }) =>
        builder.existing().orderBy('position'),
    },
  };

  /** Further facts; decimals in it are texts. */
  declare profile: Readonly<Record<string, unknown>>;
  declare approvedBy: string | null;
  declare approvedAt: Date | null;
  declare contactInfoList: object[];
  declare accountPaymentProfileList: object[];
  /** Incremented by triggers with every change that rating depends on (docs/decisions/0243). */
  declare ratingVersion: string;
  declare addresses?: Address[];

  /**
   * Locks accounts until the transaction ends, in the order of their ids: meanwhile no other
   * transaction bills them or changes their contracts.
   */
  static async holdAll(
    trx: Knex.Transaction,
    tenantId: string,
    ids: readonly string[],
  ): Promise<void> {
    await sqlRows(
      trx,
      `select id from account where tenant_id = ? and id = any(?::uuid[]) and deleted_at is null
       order by id for no key update`,
      [tenantId, [...ids]],
    );
  }
}
