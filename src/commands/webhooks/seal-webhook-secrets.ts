import type { TenantDatabase } from '../../kernel/scope.js';
import { WebhookSecret } from '../../models/webhooks/webhook.js';
import { sealedAnew, type SealAgain } from '../rules/seal-again.js';

/**
 * Seals the secrets of a tenant's webhooks with the current key. Returns how many were sealed, and
 * the webhooks whose secret no key opens; these are left as they are.
 */
export function sealWebhookSecretsAgain(
  db: TenantDatabase,
  sealAgain: SealAgain,
): Promise<{ sealed: number; lost: string[] }> {
  return db.transaction(async (trx) => {
    const rows = await WebhookSecret.held(trx, db.tenantId);
    const { fresh, lost } = sealedAnew(
      rows,
      sealAgain,
      ({ webhookId }) => `the webhook ${webhookId} of ${db.tenantId}`,
    );
    await WebhookSecret.putSealed(trx, db.tenantId, fresh);
    return { sealed: fresh.length, lost };
  });
}
