import type { Knex } from 'knex';
import { writeTogether, type BulkStatement } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';
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
      sqlRows<{ next: string }>(
        trx,
        `select next_offset as next from usage_consumer
         where tenant_id = ? and partition = ? for update`,
        [tenantId, partition],
      );
    const [known] = await select();
    if (known) return Number(known.next);
    await trx('usageConsumer').insert({ tenantId, partition }).onConflict().ignore();
    return Number((await select())[0]?.next);
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
  static advance(
    trx: Knex.Transaction,
    ...of: Parameters<(typeof UsageConsumer)['advancing']>
  ): Promise<void> {
    return writeTogether(trx, [UsageConsumer.advancing(...of)]);
  }

  /** The statement that does so. */
  static advancing(
    tenantId: string,
    partition: number,
    change: TallyChange & { readonly nextOffset?: number; readonly skipped?: number },
  ): BulkStatement {
    const { nextOffset, skipped = 0, rated, duplicate, rejected, canceled, transactions } = change;
    return {
      sql: `update usage_consumer set rated = rated + ?, duplicate = duplicate + ?,
         rejected = rejected + ?, canceled = canceled + ?, transactions = transactions + ?,
         skipped = skipped + ?, next_offset = coalesce(?::bigint, next_offset)
       where tenant_id = ? and partition = ?`,
      bindings: [
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
    };
  }
}
