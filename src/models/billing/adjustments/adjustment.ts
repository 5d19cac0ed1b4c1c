import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';
import { BillingRecord } from '../../db/tenant-model.js';

/** Adjustments of one account, contract or line: rating and billing look at all of them. */
export const adjustmentsMax = 50;

/** A discount, minimum, maximum or commitment of an account, a contract or a line. */
export class Adjustment extends BillingRecord {
  static override tableName = 'adjustment';

  declare accountId: string | null;
  declare contractId: string | null;
  declare contractServiceId: string | null;
  declare kind: 'discountPercent' | 'discountAmount' | 'minimum' | 'maximum' | 'commitment';
  /** Decimal text. */
  declare value: string;
  declare currency: string | null;
  declare serviceId: string | null;
  declare period: string | null;
  declare fromDate: string;
  declare toDate: string | null;

  /** Changes of a tenant's adjustments take turns, so that no two of them contradict each other. */
  static async change(trx: Knex.Transaction, tenantId: string): Promise<void> {
    await sqlRows(trx, `select pg_advisory_xact_lock(hashtextextended('adjustments/' || ?, 0))`, [
      tenantId,
    ]);
  }
}
