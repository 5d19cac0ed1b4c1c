import type { Knex } from 'knex';
import { TenantModel } from '../db/tenant-model.js';

/** What is added to the tallies of a partition; retries and repairs also subtract. */
export interface TallyChange {
  rated: number;
  duplicate: number;
  rejected: number;
  canceled: number;
  transactions: number;
}

export const noChange = (): TallyChange => ({
  rated: 0,
  duplicate: 0,
  rejected: 0,
  canceled: 0,
  transactions: 0,
});

/** The consumer offset of one partition of the usage log, and tallies of the events before it. */
export class UsageConsumer extends TenantModel {
  static override tableName = 'usage_consumer';
  static override idColumn = ['tenantId', 'partition'];

  declare partition: number;
  /** These are `bigint`, so text. */
  declare nextOffset: string;
  declare rated: string;
  declare duplicate: string;
  declare rejected: string;
  declare canceled: string;
  declare transactions: string;
  /** Offsets before `nextOffset` without an event: a Kafka log may have gaps. */
  declare skipped: string;

  /** Locks the partition until the transaction ends; returns the next offset to consume. */
  static async lock(trx: Knex.Transaction, tenantId: string, partition: number): Promise<number> {
    const select = () =>
      trx<{ tenantId: string; partition: number; nextOffset: string }>('usageConsumer')
        .where({ tenantId, partition })
        .forUpdate()
        .first('nextOffset');
    const known = await select();
    if (known) return Number(known.nextOffset);
    await trx('usageConsumer').insert({ tenantId, partition }).onConflict().ignore();
    return Number((await select())?.nextOffset);
  }

  /** Locks several partitions, in their order. */
  static async lockAll(
    trx: Knex.Transaction,
    tenantId: string,
    partitions: readonly number[],
  ): Promise<void> {
    await UsageConsumer.query(trx)
      .forTenant(tenantId)
      .whereIn('partition', [...partitions])
      .orderBy('partition')
      .forUpdate();
  }

  /**
   * Adds to the tallies, and sets the consumer offset; `skipped` counts the offsets without an
   * event.
   */
  static async advance(
    trx: Knex.Transaction,
    tenantId: string,
    partition: number,
    change: TallyChange & { readonly nextOffset?: number; readonly skipped?: number },
  ): Promise<void> {
    const { nextOffset, skipped = 0, rated, duplicate, rejected, canceled, transactions } = change;
    await trx.raw(
      `update usage_consumer set rated = rated + ?, duplicate = duplicate + ?,
         rejected = rejected + ?, canceled = canceled + ?, transactions = transactions + ?,
         skipped = skipped + ?, next_offset = coalesce(?::bigint, next_offset)
       where tenant_id = ? and partition = ?`,
      [
        rated,
        duplicate,
        rejected,
        canceled,
        transactions,
        skipped,
        nextOffset ?? null,
        tenantId,
        partition,
      ],
    );
  }
}
