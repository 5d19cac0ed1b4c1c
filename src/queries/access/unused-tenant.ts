import type { Scope } from '../../kernel/scope.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/**
 * Whether a tenant has neither customers nor a catalog nor usage, and nothing that tells others of what
 * happens in it: nobody has begun with it.
 */
export async function isUnused({ db, tenantId }: Scope): Promise<boolean> {
  const [found] = await sqlRows<{ isUnused: boolean }>(
    db.read,
    `select not exists (select from account where tenant_id = :tenantId)
       and not exists (select from service where tenant_id = :tenantId)
       and not exists (select from broker_partition where tenant_id = :tenantId)
       and not exists (select from webhook where tenant_id = :tenantId)
       and not exists (select from alert where tenant_id = :tenantId)
       and not exists (select from workflow_definition where tenant_id = :tenantId) as "isUnused"`,
    { tenantId },
  );
  return found?.isUnused === true;
}
