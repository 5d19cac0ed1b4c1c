import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { contentId } from '../../kernel/id.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { counterKey, type CounterKey } from '../../rating/index.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';

interface CounterRow {
  readonly id: string;
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
  id: 'uuid',
  ownerType: 'text',
  ownerId: 'uuid',
  serviceId: 'uuid',
  attributeName: 'text',
  period: 'text',
  periodStart: 'date',
  periodEnd: 'date',
  value: 'numeric',
});

const values = new BulkTable<{ id: string; value: Decimal }>('usage_counter', {
  id: 'uuid',
  value: 'numeric',
});

const counted = new BulkTable<CountedRow>('usage_counter_value', {
  counterId: 'uuid',
  valueId: 'uuid',
});

/** A value that a UNIQUE counter has counted. */
export interface CountedRow {
  readonly counterId: string;
  readonly valueId: string;
}

/** The new value of a counter, and what a UNIQUE one has counted to come to it. */
export interface CounterWrite {
  readonly key: CounterKey;
  readonly value: Decimal;
  readonly isNew: boolean;
  readonly counted?: readonly string[];
}

/** The volume of a metered attribute in one period, of a contract line or of an account. */
export class UsageCounter extends TenantModel {
  static override tableName = 'usage_counter';

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

  /** The same, locked in the order of their keys until the transaction ends. */
  static lock(
    trx: Knex.Transaction,
    tenantId: string,
    keys: readonly string[],
  ): Promise<Map<string, Decimal>> {
    return readValues(trx, tenantId, keys, 'order by id for update');
  }

  /**
   * The statements that write the new values of counters. One that did not exist when it was read is
   * inserted: if another transaction inserted it meanwhile, the unique key is violated and the batch is
   * retried.
   */
  static *writing(
    tenantId: string,
    counters: readonly CounterWrite[],
  ): Iterable<BulkStatement | null> {
    const rows = counters.map(({ key, value, isNew }) => ({
      isNew,
      ...key,
      id: counterIdOf(counterKey(key)),
      period: key.frequency,
      value,
    }));
    yield values.updating(
      tenantId,
      'id',
      rows.filter(({ isNew }) => !isNew),
    );
    yield* table.insertingAll(
      tenantId,
      rows.filter(({ isNew }) => isNew),
    );
    const added = counters.flatMap(({ key, counted: ids = [] }) =>
      ids.map((valueId) => ({ counterId: counterIdOf(counterKey(key)), valueId })),
    );
    yield* counted.insertingAll(tenantId, added);
  }

  /**
   * The meters of counters, by the ids of these: all counters of one owner and service in one period are of
   * one meter, whatever attribute they count.
   */
  static async meterIds(
    db: Knex,
    tenantId: string,
    counterIds: ReadonlySet<string>,
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const unknown: string[] = [];
    for (const id of counterIds) {
      const meterId = meters.get(id);
      if (meterId === undefined) unknown.push(id);
      else found.set(id, meterId);
    }
    if (unknown.length === 0) return found;
    const rows = await sqlRows<CounterKey & { readonly id: string }>(
      db,
      `select id, owner_type as "ownerType", owner_id as "ownerId", service_id as "serviceId",
         attribute_name as "attributeName", period as frequency, period_start::text as "periodStart",
         period_end::text as "periodEnd"
       from usage_counter where tenant_id = ? and id = any(?::uuid[])`,
      [tenantId, unknown],
    );
    for (const { id, ...key } of rows) {
      const meterId = meterIdOf(counterKey(key));
      meters.set(id, meterId);
      found.set(id, meterId);
    }
    return found;
  }

  /** Which of these values their counters have counted; the counters are locked by whoever writes. */
  static async readCounted(
    db: Knex,
    tenantId: string,
    asked: readonly CountedRow[],
  ): Promise<Set<string>> {
    if (asked.length === 0) return new Set();
    const rows = await sqlRows<{ id: string }>(
      db,
      `select known.value_id as id
       from unnest(?::uuid[], ?::uuid[]) as asked (counter_id, value_id)
       join usage_counter_value as known on known.tenant_id = ?
         and known.counter_id = asked.counter_id and known.value_id = asked.value_id`,
      [asked.map(({ counterId }) => counterId), asked.map(({ valueId }) => valueId), tenantId],
    );
    return new Set(rows.map(({ id }) => id));
  }

  static async addCounted(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly CountedRow[],
  ): Promise<void> {
    await counted.insert(trx, tenantId, rows);
  }

  /** Values that no usage has any more. */
  static async removeCounted(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly CountedRow[],
  ): Promise<void> {
    if (rows.length === 0) return;
    await trx.raw(
      `delete from usage_counter_value as known
       using unnest(?::uuid[], ?::uuid[]) as gone (counter_id, value_id)
       where known.tenant_id = ? and known.counter_id = gone.counter_id
         and known.value_id = gone.value_id`,
      [rows.map(({ counterId }) => counterId), rows.map(({ valueId }) => valueId), tenantId],
    );
  }
}

const ids = new LRUCache<string, string>({ max: 50_000 });

/** Meters by the ids of their counters. */
const meters = new LRUCache<string, string>({ max: 50_000 });

/** A counter's key without its attribute, which is the last part of it. */
const meterIdOf = (key: string): string => contentId(key.split('/', 5).join('/'));

/** The last that was asked for: whoever rates an event asks for its counter several times. */
let last = { key: '', id: '' };

/** The id of the counter with this key (`counterKey()` of the rating engine). */
export function counterIdOf(key: string): string {
  if (key === last.key) return last.id;
  let id = ids.get(key);
  if (id === undefined) {
    id = contentId(key);
    ids.set(key, id);
    meters.set(id, meterIdOf(key));
  }
  last = { key, id };
  return id;
}

async function readValues(
  db: Knex,
  tenantId: string,
  keys: readonly string[],
  clause: string,
): Promise<Map<string, Decimal>> {
  if (keys.length === 0) return new Map();
  const keyById = new Map(keys.map((key) => [counterIdOf(key), key]));
  const rows = await sqlRows<{ id: string; value: string }>(
    db,
    `select id, value from usage_counter where tenant_id = ? and id = any(?::uuid[]) ${clause}`,
    [tenantId, `{${[...keyById.keys()].join(',')}}`],
  );
  return new Map(rows.map(({ id, value }) => [keyById.get(id) ?? '', new Decimal(value)]));
}
