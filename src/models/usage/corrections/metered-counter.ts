import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { chargeId } from '../../../messages/usage-log.js';
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

/** Events of which the counters are looked for at once. */
const eventsAtOnce = 50_000;

/**
 * The counters of an account and service that events have moved, as far as their first charges name them
 * in a column; others are found when the events are rated. An event that came from another account has
 * its first charge there.
 */
export async function findCountersOf(
  db: Knex,
  tenantId: string,
  owner: { readonly accountId: string; readonly serviceId: string },
  eventIds: readonly string[],
): Promise<Map<string, MeteredCounter>> {
  const ids = new Set<string>();
  for (let from = 0; from < eventIds.length; from += eventsAtOnce) {
    const rows = await sqlRows<{ id: string }>(
      db,
      `select distinct counter_id as id from rated_transaction
       where tenant_id = ? and id = any(?::uuid[]) and counter_id is not null
         and master_account_id = ? and service_id = ?`,
      [
        tenantId,
        arrayLiteral(eventIds.slice(from, from + eventsAtOnce).map((id) => chargeId(id, 1))),
        owner.accountId,
        owner.serviceId,
      ],
    );
    for (const { id } of rows) ids.add(id);
  }
  return readCounters(db, tenantId, [...ids], false);
}

/** A counter that an event moves, as it is before it was looked for in the database. */
export const counterOfKey = (key: CounterKey): readonly [string, MeteredCounter] => {
  const text = counterKey(key);
  return [counterIdOf(text), { key, text, stored: null }];
};
