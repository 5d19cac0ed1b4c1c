import type { Knex } from 'knex';
import { sqlRows } from '../../db/sql-rows.js';

/**
 * When usage and corrections become known. What is answered for an instant never changes, so who asks
 * waits for all that may yet commit with an instant up to it (docs/decisions/0385, 0414). Instants are
 * whole milliseconds, rounded up: those of `knownOn` are no finer.
 */
const instantSql = `date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond'`;

const lockOf = (kind: 'rating' | 'known', tenantId: string): string => `${kind}/${tenantId}`;

/**
 * The instant of what a transaction rates. First in the transaction: it waits for who asks, and who
 * asks waits for its end, so it may hold no lock yet that another needs.
 */
export async function beginRating(trx: Knex.Transaction, tenantId: string): Promise<Date> {
  const [row] = await sqlRows<{ at: Date }>(
    trx,
    `with locked as materialized (select pg_advisory_xact_lock_shared(hashtextextended(?, 0)))
     select ${instantSql} as at from locked`,
    [lockOf('rating', tenantId)],
  );
  if (!row) throw new Error('PostgreSQL does not tell the time.');
  return row.at;
}

/** The instant at which a correction becomes known, just before its commit. */
export async function publishCorrection(trx: Knex.Transaction, tenantId: string): Promise<string> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
    lockOf('known', tenantId),
  ]);
  const [row] = await sqlRows<{ at: string }>(
    trx,
    `select to_char((${instantSql}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at`,
  );
  return row?.at ?? '';
}

/** Waits for what has its instant and is not committed: rating, and corrections at their end. */
export async function awaitKnown(db: Knex, tenantId: string): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [
    lockOf('rating', tenantId),
  ]);
  await db.raw('select pg_advisory_xact_lock_shared(hashtextextended(?, 0))', [
    lockOf('known', tenantId),
  ]);
}
