import type { Knex } from 'knex';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';

/** An address that is told of events (spec/platform.md R35). */
export class Webhook extends TenantModel {
  static override tableName = 'webhook';

  declare url: string;
  declare events: string[];
  declare active: boolean;
  /** Why the product switched it off; null when nobody or its owner did. */
  declare disabledReason: string | null;
  declare disabledAt: Date | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/** What deliveries to a webhook are signed with; while it is rotated there are several. */
export class WebhookSecret extends TenantModel {
  static override tableName = 'webhook_secret';

  declare webhookId: string;
  declare sealed: string;
  /** Null: the newest, which does not expire. */
  declare expiresAt: Date | null;
  declare createdAt: Date;

  /** All of a tenant's, held until the transaction ends. */
  static async held(trx: Knex, tenantId: string): Promise<WebhookSecret[]> {
    return await WebhookSecret.query(trx).forTenant(tenantId).orderBy('id').forUpdate();
  }

  /** Puts what is sealed anew in the place of what was. */
  static async putSealed(
    trx: Knex,
    tenantId: string,
    sealed: readonly { readonly id: string; readonly sealed: string }[],
  ): Promise<void> {
    if (sealed.length === 0) return;
    await trx.raw(
      `update webhook_secret set sealed = input.sealed
       from unnest(?::uuid[], ?::text[]) as input (id, sealed)
       where webhook_secret.tenant_id = ? and webhook_secret.id = input.id`,
      [sealed.map(({ id }) => id), sealed.map((each) => each.sealed), tenantId],
    );
  }
}

/** The instant since which all attempts to a webhook have failed. */
export const WebhookFailure = {
  /** Records a failure; returns the instant of the first one since the last success. */
  async note(trx: Knex, tenantId: string, webhookId: string, at: Date): Promise<Date> {
    const rows = await sqlRows<{ since: Date }>(
      trx,
      `insert into webhook_failure (tenant_id, webhook_id, since) values (?, ?, ?)
       on conflict (tenant_id, webhook_id) do update set since = webhook_failure.since
       returning since`,
      [tenantId, webhookId, at],
    );
    return rows[0]?.since ?? at;
  },

  async clear(trx: Knex, tenantId: string, webhookId: string): Promise<void> {
    await trx.raw('delete from webhook_failure where tenant_id = ? and webhook_id = ?', [
      tenantId,
      webhookId,
    ]);
  },
};
