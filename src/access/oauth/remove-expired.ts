import type { Knex } from 'knex';

const day = 86_400_000;

/** Rows that one purge removes of a table, so that no request waits long for it. */
const rowsMax = 500;

/** A client that nobody consented to within three days was a try; whoever comes back registers again. */
const unusedDays = 3;
/** Kept for a while after their end, so that a late replay is still recognized as one. */
const keptDays = 7;

/**
 * Deletes clients that were never used, expired grants with their codes and tokens, and expired
 * decisions about flows. Called when rows are added, so that they do not accumulate.
 */
export async function purgeOauth(db: Knex, now: Date): Promise<void> {
  const before = (days: number): Date => new Date(now.getTime() - days * day);
  const remove = (table: string, stale: (query: Knex.QueryBuilder) => Knex.QueryBuilder) =>
    db(table)
      // Concurrent purges skip each other's rows, and so cannot deadlock.
      .whereIn('id', stale(db(table).select('id')).limit(rowsMax).forUpdate().skipLocked())
      .delete();
  await remove('oauthDecision', (rows) => rows.where('expiresAt', '<', now));
  await remove('oauthGrant', (rows) => rows.where('expiresAt', '<', before(keptDays)));
  await remove('oauthClient', (rows) =>
    rows.whereNull('usedAt').where('createdAt', '<', before(unusedDays)),
  );
}
