import type { Knex } from 'knex';
import { Model } from 'objection';
import type { DeliveryStatus } from '../../messages/webhook.js';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';
import { isFencedSql, isSuspendedSql } from '../access/tenant.js';

/** A delivery that is asked for again and again keeps the attempts of its last rounds. */
const roundsKept = 10;

/** One try to deliver, and what was answered. */
export class WebhookAttempt extends TenantModel {
  static override tableName = 'webhook_attempt';
  static override idColumn = ['tenantId', 'deliveryId', 'round', 'number'];

  declare deliveryId: string;
  declare round: number;
  /** Counted from 1 in each round. */
  declare number: number;
  declare startedAt: Date;
  declare durationMs: number;
  declare statusCode: number | null;
  declare error: string | null;
  /** The first kilobytes of the answer. */
  declare answer: string | null;

  /** Stores an attempt; one repeated after a crash replaces the first, whose outcome is unknown. */
  static async keep(trx: Knex, tenantId: string, attempt: AttemptRow): Promise<void> {
    const { deliveryId, round, number, startedAt, durationMs } = attempt;
    await trx.raw(
      `insert into webhook_attempt (tenant_id, delivery_id, round, number, started_at, duration_ms,
         status_code, error, answer)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict on constraint webhook_attempt_pkey do update set
         started_at = excluded.started_at, duration_ms = excluded.duration_ms,
         status_code = excluded.status_code, error = excluded.error, answer = excluded.answer`,
      [
        tenantId,
        deliveryId,
        round,
        number,
        startedAt,
        durationMs,
        attempt.statusCode,
        attempt.error,
        attempt.answer,
      ] as string[],
    );
    if (round <= roundsKept || number > 1) return;
    await WebhookAttempt.query(trx)
      .forTenant(tenantId)
      .where({ deliveryId })
      .where('round', '<=', round - roundsKept)
      .delete();
  }
}

export interface AttemptRow {
  readonly deliveryId: string;
  readonly round: number;
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly answer: string | null;
}

/** A delivery that the worker takes up. */
export interface ClaimedDelivery {
  readonly tenantId: string;
  readonly id: string;
  readonly webhookId: string;
  readonly event: string;
  readonly round: number;
  readonly attempts: number;
}

/** Limits for first attempts under way, and the number of deliveries claimed at once. */
export interface ClaimShares {
  readonly perWebhook: number;
  /** To a webhook that nothing reaches. */
  readonly perFailing: number;
  readonly perTenant: number;
  readonly limit: number;
}

/** Deliveries that have not ended. */
export interface OpenDeliveries {
  readonly status: DeliveryStatus;
  readonly count: number;
}

/**
 * Maximum deliveries of a tenant that wait for their first attempt. Further ones are given up at
 * once, and can be sent again (docs/decisions/0264).
 */
export const waitingMax = 100_000;

/** SQL for how many more deliveries of a tenant, its one binding, may wait. */
export const waitingRoom = `(
  select ${waitingMax} - count(*) from (
    select from webhook_delivery where tenant_id = ? and status = 'pending' limit ${waitingMax}
  ) as pending
)`;

/** How overdue a retry is when its workflow is taken for lost. */
const graceMs = 120_000;

const claimed = `returning delivery.tenant_id as "tenantId", delivery.id,
  delivery.webhook_id as "webhookId", delivery.event, delivery.round, delivery.attempts`;

/** A delivery with what its attempts send. */
export interface DeliveryLoad {
  readonly status: DeliveryStatus;
  readonly round: number;
  readonly attempts: number;
  /** Null: there is no such webhook any more, or no such event. */
  readonly url: string | null;
  readonly isActive: boolean | null;
  readonly body: string | null;
  /** The secrets that are valid, the newest first. */
  readonly sealedSecrets: readonly string[];
}

/** An event on its way to one webhook; its id is the `webhook-id` of every attempt. */
export class WebhookDelivery extends TenantModel {
  static override tableName = 'webhook_delivery';
  static override relationMappings = {
    tries: {
      relation: Model.HasManyRelation,
      modelClass: WebhookAttempt,
      join: { from: 'webhook_delivery.id', to: 'webhook_attempt.deliveryId' },
      modify: (builder: { orderBy(columns: string[]): void }) =>
        builder.orderBy(['round', 'number']),
    },
  };

  /** A `bigint`, so text. */
  declare seq: string;
  declare webhookId: string;
  declare eventId: string;
  declare event: string;
  declare recordId: string;
  /** The request or the execution that it followed, where it is known. */
  declare requestId: string | null;
  declare status: DeliveryStatus;
  declare round: number;
  /** Of this round. */
  declare attempts: number;
  declare watchAt: Date | null;
  declare nextAttemptAt: Date | null;
  declare endedAt: Date | null;
  declare reason: string | null;
  declare createdAt: Date;
  declare tries?: WebhookAttempt[];

  /**
   * Claims waiting deliveries of all tenants, round robin: of each tenant the oldest of each
   * webhook. Limits first attempts under way to `perWebhook` for a webhook (`perFailing` while it
   * fails) and `perTenant` for a tenant, so that receivers that hang block nobody else. A delivery
   * waits while an earlier event of the same record is on its way to the same webhook.
   */
  static async claim(
    db: Knex,
    { perWebhook, perFailing, perTenant, limit }: ClaimShares,
  ): Promise<readonly ClaimedDelivery[]> {
    const rows = await sqlRows<ClaimedDelivery>(
      db,
      `with sending as (
         select tenant_id, webhook_id, count(*) as count from webhook_delivery
         where status = 'sending' group by tenant_id, webhook_id
       ),
       waiting as (
         select next.tenant_id, next.id,
           row_number() over (partition by next.tenant_id order by next.rank, next.seq) as turn
         from webhook
         left join sending
           on sending.tenant_id = webhook.tenant_id and sending.webhook_id = webhook.id
         cross join lateral (
           select waiting.tenant_id, waiting.id, waiting.seq,
             row_number() over (order by waiting.seq) as rank
           from webhook_delivery as waiting
           where waiting.tenant_id = webhook.tenant_id and waiting.webhook_id = webhook.id
             and waiting.status = 'pending'
             and not exists (
               select 1 from webhook_delivery as earlier
               where earlier.tenant_id = waiting.tenant_id
                 and earlier.webhook_id = waiting.webhook_id
                 and earlier.record_id = waiting.record_id and earlier.seq < waiting.seq
                 and earlier.status in ('pending', 'sending', 'retrying')
             )
           order by waiting.seq
           limit greatest(0, case when exists (
             select 1 from webhook_failure as failure
             where failure.tenant_id = webhook.tenant_id and failure.webhook_id = webhook.id
           ) then ?::int else ?::int end - coalesce(sending.count, 0))
         ) as next
         where webhook.active and not ${isSuspendedSql('webhook.tenant_id')}
           and not ${isFencedSql('webhook.tenant_id')}
       ),
       chosen as (
         select tenant_id, id from waiting
         left join (
           select tenant_id, sum(count) as count from sending group by tenant_id
         ) as busy using (tenant_id)
         where turn <= ?::int - coalesce(busy.count, 0)
         order by turn limit ?
       )
       update webhook_delivery as delivery
       set status = 'sending', watch_at = now() + interval '1 minute'
       from chosen
       where delivery.tenant_id = chosen.tenant_id and delivery.id = chosen.id
         and delivery.status = 'pending'
       ${claimed}`,
      [perFailing, perWebhook, perTenant, limit],
    );
    return rows;
  }

  /** What an attempt needs to know, read at once; undefined where there is no such delivery. */
  static async load(
    db: Knex,
    tenantId: string,
    id: string,
    at: Date,
  ): Promise<DeliveryLoad | undefined> {
    const rows = await sqlRows<DeliveryLoad>(
      db,
      `select delivery.status, delivery.round, delivery.attempts, webhook.url,
         webhook.active as "isActive", event.body, array(
           select sealed from webhook_secret as secret
           where secret.tenant_id = :tenantId and secret.webhook_id = delivery.webhook_id
             and (secret.expires_at is null or secret.expires_at > :at)
           order by secret.created_at desc, secret.id desc
         ) as "sealedSecrets"
       from webhook_delivery as delivery
       left join webhook
         on webhook.tenant_id = :tenantId and webhook.id = delivery.webhook_id
       left join webhook_event as event
         on event.tenant_id = :tenantId and event.id = delivery.event_id
       where delivery.tenant_id = :tenantId and delivery.id = :id`,
      { tenantId, id, at },
    );
    return rows[0];
  }

  /** Claims deliveries under way again whose outcome is overdue: their workflows may be lost. */
  static async reclaim(db: Knex, limit: number): Promise<readonly ClaimedDelivery[]> {
    const rows = await sqlRows<ClaimedDelivery>(
      db,
      `update webhook_delivery as delivery set watch_at = now() + interval '1 minute'
       where (tenant_id, id) in (
         select tenant_id, id from webhook_delivery
         where status in ('sending', 'retrying') and watch_at < now()
           and not ${isFencedSql('webhook_delivery.tenant_id')}
         order by watch_at limit ? for update skip locked
       )
       ${claimed}`,
      [limit],
    );
    return rows;
  }

  /** How many deliveries of all tenants have not ended, by their status. */
  static async countOpen(db: Knex): Promise<readonly OpenDeliveries[]> {
    const rows = await sqlRows<OpenDeliveries>(
      db,
      `select status, count(*)::int as count from webhook_delivery
       where status in ('pending', 'sending', 'retrying') group by status`,
    );
    return rows;
  }

  /** Makes these deliveries overdue soon, since their workflows could not be started. */
  static async watchSoon(db: Knex, ids: readonly string[]): Promise<void> {
    await db.raw(
      `update webhook_delivery set watch_at = now() + interval '5 seconds'
       where id = any(?::uuid[]) and status = 'sending'
         and not ${isFencedSql('webhook_delivery.tenant_id')}`,
      [[...ids]],
    );
  }

  /** Ends the delivery: delivered, or given up for a reason, after `attempts` of its round. */
  async end(
    trx: Knex,
    status: 'delivered' | 'failed',
    endedAt: Date,
    reason: string | null,
    attempts = this.attempts,
  ): Promise<void> {
    await this.$query(trx)
      .forTenant(this.tenantId)
      .patch({ status, endedAt, reason, attempts, nextAttemptAt: null, watchAt: null });
  }

  /** Schedules the next attempt. */
  async waitForRetry(trx: Knex, nextAttemptAt: Date, attempts: number): Promise<void> {
    const watchAt = new Date(nextAttemptAt.getTime() + graceMs);
    await this.$query(trx)
      .forTenant(this.tenantId)
      .patch({ status: 'retrying', nextAttemptAt, watchAt, attempts });
  }

  /**
   * Sends ended deliveries with these statuses again, the oldest first, up to the limit of waiting
   * ones.
   */
  static async recover(
    trx: Knex,
    tenantId: string,
    webhookId: string,
    statuses: readonly DeliveryStatus[],
    since: string,
  ): Promise<number> {
    const rows = await sqlRows<{ id: string }>(
      trx,
      `update webhook_delivery as delivery set status = 'pending', round = round + 1, attempts = 0,
         watch_at = null, next_attempt_at = null, ended_at = null, reason = null
       where tenant_id = ? and id in (
         select id from webhook_delivery
         where tenant_id = ? and webhook_id = ?::uuid and status = any(?::text[])
           and created_at >= ?::timestamptz
         order by seq limit ${waitingRoom}
       )
       returning id`,
      [tenantId, tenantId, webhookId, [...statuses], since, tenantId],
    );
    return rows.length;
  }

  /** Deletes the deliveries to a webhook. */
  static async deleteOf(trx: Knex, tenantId: string, webhookId: string): Promise<void> {
    const deliveries = () => WebhookDelivery.query(trx).forTenant(tenantId).where({ webhookId });
    await WebhookAttempt.query(trx)
      .forTenant(tenantId)
      .whereIn('deliveryId', deliveries().select('id'))
      .delete();
    await deliveries().delete();
  }

  /** Gives up what waits for its next attempt, of a webhook that is switched off. */
  static async giveUp(
    trx: Knex,
    tenantId: string,
    webhookId: string,
    reason: string,
    at: Date,
  ): Promise<void> {
    await WebhookDelivery.query(trx)
      .forTenant(tenantId)
      .where({ webhookId })
      .whereIn('status', ['pending', 'retrying'])
      .patch({ status: 'failed', reason, endedAt: at, nextAttemptAt: null, watchAt: null });
  }
}

/** What a delivery that is to be sent once more starts with. */
export const newRound = {
  status: 'pending',
  attempts: 0,
  watchAt: null,
  nextAttemptAt: null,
  endedAt: null,
  reason: null,
} as const;
