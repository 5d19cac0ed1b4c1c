import type { TenantDatabase } from '../../kernel/scope.js';
import { WebhookSecret } from '../../models/webhooks/webhook.js';

/**
 * Returns the secret sealed with the current key; undefined if it is already. Throws if no key
 * fits.
 */
type SealAgain = (sealed: string) => string | undefined;

/**
 * Seals the secrets of a tenant's webhooks with the current key. Returns how many were sealed, and
 * the webhooks whose secret no key opens; these are left as they are.
 */
export function sealWebhookSecretsAgain(
  db: TenantDatabase,
  sealAgain: SealAgain,
): Promise<{ sealed: number; lost: string[] }> {
  return db.transaction(async (trx) => {
    const fresh: { id: string; sealed: string }[] = [];
    const lost: string[] = [];
    for (const { id, webhookId, sealed: old } of await WebhookSecret.held(trx, db.tenantId)) {
      try {
        const sealed = sealAgain(old);
        if (sealed !== undefined) fresh.push({ id, sealed });
      } catch {
        lost.push(`the webhook ${webhookId} of ${db.tenantId}`);
      }
    }
    await WebhookSecret.putSealed(trx, db.tenantId, fresh);
    return { sealed: fresh.length, lost };
  });
}
