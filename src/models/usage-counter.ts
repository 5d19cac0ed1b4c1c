import type { Knex } from 'knex';
import { Decimal } from '../kernel/money.js';
import { counterKey, type CounterKey } from '../rating/index.js';
import { BulkTable } from './bulk-table.js';
import { TenantModel } from './tenant-model.js';

interface CounterRow {
  readonly counterKey: string;
  readonly ownerType: string;
  readonly ownerId: string;
  readonly serviceId: string;
  readonly attributeName: string;
  readonly period: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly value: Decimal;
}

const table = new BulkTable<CounterRow>('usage_counter', {
  counterKey: 'text',
  ownerType: 'text',
  ownerId: 'uuid',
  serviceId: 'uuid',
  attributeName: 'text',
  period: 'text',
  periodStart: 'date',
  periodEnd: 'date',
  value: 'numeric',
});

const values = new BulkTable<{ counterKey: string; value: Decimal }>('usage_counter', {
  counterKey: 'text',
  value: 'numeric',
});

/** The volume of a metered attribute in one period, of a contract line or of an account. */
export class UsageCounter extends TenantModel {
  static override tableName = 'usage_counter';
  static override idColumn = ['tenantId', 'counterKey'];

  declare counterKey: string;
  declare ownerType: string;
  declare ownerId: string;
  declare serviceId: string;
  declare attributeName: string;
  declare period: string;
  declare periodStart: string;
  declare periodEnd: string;
  /** Decimal text. */
  declare value: string;

  /** The volumes of those counters that exist, by key. */
  static read(db: Knex, tenantId: string, keys: readonly string[]): Promise<Map<string, Decimal>> {
    return readValues(db, tenantId, keys, '');
  }

  /** The same, held in the order of their keys until the transaction ends. */
  static lock(
    trx: Knex.Transaction,
    tenantId: string,
    keys: readonly string[],
  ): Promise<Map<string, Decimal>> {
    return readValues(trx, tenantId, keys, 'order by counter_key for update');
  }

  /**
   * Writes where counters stand now. One that was not there when it was read is inserted: should
   * another transaction have done so meanwhile, the unique key refuses, and all begins anew.
   */
  static async write(
    trx: Knex.Transaction,
    tenantId: string,
    counters: readonly {
      readonly key: CounterKey;
      readonly value: Decimal;
      readonly isNew: boolean;
    }[],
  ): Promise<void> {
    const rows = counters.map(({ key, value, isNew }) => ({
      ...{ isNew, ...key, counterKey: counterKey(key), period: key.frequency, value },
    }));
    await values.update(
      trx,
      tenantId,
      'counterKey',
      rows.filter(({ isNew }) => !isNew),
    );
    await table.insert(
      trx,
      tenantId,
      rows.filter(({ isNew }) => isNew),
    );
  }
}

async function readValues(
  db: Knex,
  tenantId: string,
  keys: readonly string[],
  clause: string,
): Promise<Map<string, Decimal>> {
  if (keys.length === 0) return new Map();
  const { rows } = await db.raw<{ rows: { key: string; value: string }[] }>(
    `select counter_key as key, value from usage_counter
     where tenant_id = ? and counter_key = any(?::text[]) ${clause}`,
    [tenantId, keys as unknown as string],
  );
  return new Map(rows.map(({ key, value }) => [key, new Decimal(value)]));
}
