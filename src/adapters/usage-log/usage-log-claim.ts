import type { Knex } from 'knex';
import { StartupError } from '../../platform/startup-error.js';

const described = (name: string): string =>
  name === 'postgres' ? 'in PostgreSQL (no KAFKA_BROKERS)' : `in Kafka (${name.slice(6)})`;

/**
 * Records which log this database consumes, and refuses another one: its offsets begin anew, so
 * that its events would be taken for rated already (docs/decisions/0131).
 */
export async function claimUsageLog(db: Knex, name: string): Promise<void> {
  await db('usageLog').insert({ name }).onConflict('isOnly').ignore();
  const known = await db('usageLog').first<{ name: string }>('name');
  if (known.name === name) return;
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `update usage_log set name = ?
     where not exists (select 1 from broker_partition) and not exists (select 1 from usage_consumer)
     returning name`,
    [name],
  );
  if (rows.length > 0) return;
  throw new StartupError(
    `The usage of this database is ${described(known.name)}, this start would use one ` +
      `${described(name)}: its events would be missed. Set KAFKA_BROKERS and KAFKA_PREFIX as before.`,
  );
}
