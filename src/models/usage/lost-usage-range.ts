import type { Knex } from 'knex';

/** A stretch of a partition that was passed over: its events can never be rated. */
export interface LostUsageRange {
  readonly tenantId: string;
  readonly partition: number;
  readonly firstOffset: number;
  /** The offset after the last one. */
  readonly endOffset: number;
  readonly reason: string;
  readonly foundAt: Date;
}

interface LostUsageRow {
  readonly tenantId: string;
  readonly partition: number;
  readonly firstOffset: string;
  readonly endOffset: string;
  readonly reason: string;
  readonly foundAt: Date;
}

/** Of one tenant or, for operators, of all of them, newest first. */
export async function listLostUsage(
  db: Knex,
  tenantId: string | undefined,
): Promise<LostUsageRange[]> {
  const query = db<LostUsageRow>('lostUsageRange').select('*').orderBy('foundAt', 'desc');
  const rows = await (tenantId === undefined ? query : query.where({ tenantId }));
  return rows.map((row) => ({
    ...row,
    firstOffset: Number(row.firstOffset),
    endOffset: Number(row.endOffset),
  }));
}

/** The offset after the last one that a partition of the log has; undefined: the log is in Kafka, or has none. */
export async function findLogEnd(
  platform: Knex,
  tenantId: string,
  partition: number,
): Promise<number | undefined> {
  const [row] = await platform('brokerPartition')
    .select<{ nextOffset: string }[]>('nextOffset')
    .where({ tenantId, partition });
  return row && Number(row.nextOffset);
}

export async function insertLostUsage(trx: Knex, range: LostUsageRange): Promise<void> {
  await trx('lostUsageRange').insert(range);
}
