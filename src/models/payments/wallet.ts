import type { Knex } from 'knex';
import type { Columns } from '../../schemas/fields/columns.js';
import type * as schema from '../../schemas/payments/wallet.js';
import { sqlRows } from '../db/sql-rows.js';
import { BillingRecord } from '../db/tenant-model.js';

export interface Wallet extends Columns<typeof schema.Wallet> {}
/** Money or units that an account holds in advance. */
export class Wallet extends BillingRecord {
  static override tableName = 'wallet';

  /**
   * Gives a wallet that has neither a currency nor a unit, and has had no grant, the currency of its
   * account (docs/decisions/0500); null: it has a unit, or there is none to give.
   */
  static async takeCurrency(
    trx: Knex.Transaction,
    tenantId: string,
    id: string,
    at: Date,
  ): Promise<string | null> {
    const [taken] = await sqlRows<{ currency: string }>(
      trx,
      `update wallet set currency = account.default_currency, updated_at = :at from account
       where wallet.tenant_id = :tenantId and wallet.id = :id
         and wallet.currency is null and wallet.unit is null
         and account.tenant_id = wallet.tenant_id and account.id = wallet.account_id
         and account.default_currency is not null
         and not exists (select from wallet_balance as own
           where own.tenant_id = wallet.tenant_id and own.wallet_id = wallet.id)
       returning wallet.currency`,
      { tenantId, id, at },
    );
    return taken?.currency ?? null;
  }
}
