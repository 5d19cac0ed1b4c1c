import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { sqlRows } from '../../db/sql-rows.js';
import { counterIdOf } from '../usage-counter.js';
import { counterKey, type CounterKey } from '../../../rating/index.js';

/** A counter whose usage is rated again from the start of its period. */
export interface MeteredCounter {
  readonly key: CounterKey;
  readonly text: string;
  /** Its value as it is stored; null: it has no row. */
  readonly stored: Decimal | null;
}

interface CounterRow extends Omit<CounterKey, 'frequency'> {
  readonly frequency: CounterKey['frequency'];
  readonly id: string;
  readonly value: string;
}

const columns = `id, owner_type as "ownerType", owner_id as "ownerId", service_id as "serviceId",
  attribute_name as "attributeName", period as "frequency", period_start::text as "periodStart",
  period_end::text as "periodEnd", value`;

/** The stored counters of these ids, by id; locked until the transaction ends, where it is said so. */
export async function readCounters(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
  isLocked: boolean,
): Promise<Map<string, MeteredCounter>> {
  if (ids.length === 0) return new Map();
  const rows = await sqlRows<CounterRow>(
    db,
    `select ${columns} from usage_counter where tenant_id = ? and id = any(?::uuid[])
     order by id ${isLocked ? 'for update' : ''}`,
    [tenantId, ids],
  );
  return new Map(
    rows.map(({ id, value, ...key }) => [
      id,
      { key, text: counterKey(key), stored: new Decimal(value) },
    ]),
  );
}

/** A counter that an event moves, as it is before it was looked for in the database. */
export const counterOfKey = (key: CounterKey): readonly [string, MeteredCounter] => {
  const text = counterKey(key);
  return [counterIdOf(text), { key, text, stored: null }];
};
