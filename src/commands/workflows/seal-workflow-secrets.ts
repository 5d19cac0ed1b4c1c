import type { TenantDatabase } from '../../kernel/scope.js';
import { WorkflowSecret } from '../../models/workflows/definition.js';
import { sealedAnew, type SealAgain } from '../rules/seal-again.js';

/** The same as `sealWebhookSecretsAgain`, of the secrets that workflows use. */
export function sealWorkflowSecretsAgain(
  db: TenantDatabase,
  sealAgain: SealAgain,
): Promise<{ sealed: number; lost: string[] }> {
  return db.transaction(async (trx) => {
    const rows = await WorkflowSecret.held(trx, db.tenantId);
    const { fresh, lost } = sealedAnew(
      rows,
      sealAgain,
      ({ name }) => `the secret ${name} of ${db.tenantId}`,
    );
    await WorkflowSecret.putSealed(trx, db.tenantId, fresh);
    return { sealed: fresh.length, lost };
  });
}
