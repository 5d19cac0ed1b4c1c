import type { Knex } from 'knex';
import { TenantModel } from '../db/tenant-model.js';

/** What is added to the tallies of a partition; retries and repairs also subtract. */
export interface TallyChange {
  rated: number;
  duplicate: number;
  rejected: number;
  transactions: number;
}

export const noChange = (): TallyChange => ({
  rated: 0,
  duplicate: 0,
  rejected: 0,
  transactions: 0,
});

/** How far the usage log was rated in one partition, and what became of the events before that. */
export class UsageConsumer extends TenantModel {
  static override tableName = 'usage_consumer';
  static override idColumn = ['tenantId', 'partition'];

  declare partition: number;
  /** These are `bigint`, so text. */
  declare nextOffset: string;
  declare rated: string;
  declare duplicate: string;
  declare rejected: string;
  declare transactions: string;
  /** Offsets before `nextOffset` that held no event: a log of Kafka may have gaps. */
  declare skipped: string;

  /** Holds the partition until the transaction ends; tells where it goes on. */
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

  /** Holds several partitions, in their order. */
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

  /** Adds to the tallies; `nextOffset` moves the partition on, over `skipped` empty offsets. */
  static async advance(
    trx: Knex.Transaction,
    tenantId: string,
    partition: number,
    change: TallyChange & { readonly nextOffset?: number; readonly skipped?: number },
  ): Promise<void> {
    const { nextOffset, skipped = 0, rated, duplicate, rejected, transactions } = change;
    await trx.raw(
      `update usage_consumer set rated = rated + ?, duplicate = duplicate + ?,
         rejected = rejected + ?, transactions = transactions + ?, skipped = skipped + ?,
         next_offset = coalesce(?::bigint, next_offset)
       where tenant_id = ? and partition = ?`,
      [rated, duplicate, rejected, transactions, skipped, nextOffset ?? null, tenantId, partition],
    );
  }
}
