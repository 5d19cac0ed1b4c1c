import type { Knex } from 'knex';
import { BulkTable } from '../db/bulk-table.js';

/** A threshold that a figure has passed. */
export interface AlertTriggerRow {
  readonly id: string;
  readonly alertId: string;
  readonly name: string;
  readonly accountId: string | null;
  readonly walletId: string | null;
  readonly measure: string;
  readonly threshold: string;
  readonly value: string;
  /** Of an amount. */
  readonly currency: string | null;
  readonly at: Date;
}

const table = new BulkTable<AlertTriggerRow>('alert_trigger', {
  id: 'uuid',
  alertId: 'uuid',
  name: 'text',
  accountId: 'uuid',
  walletId: 'uuid',
  measure: 'text',
  threshold: 'numeric',
  value: 'numeric',
  currency: 'text',
  at: 'timestamptz',
});

/** Keeps what alerts have triggered, for timelines. */
export const insertAlertTriggers = (
  trx: Knex.Transaction,
  tenantId: string,
  rows: readonly AlertTriggerRow[],
): Promise<void> => table.insert(trx, tenantId, rows);
