import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** What a range of usage is limited to. */
interface RangeReferences {
  readonly accountId: string | null;
  readonly contractId: string | null;
  readonly serviceId: string | null;
}

interface KnownReferences {
  readonly accountId: boolean;
  readonly contractId: boolean;
  readonly serviceId: boolean;
}

const kinds = { accountId: 'account', contractId: 'contract', serviceId: 'service' } as const;

/**
 * 400: an account, contract or service that a range is limited to does not exist. One that was deleted
 * has usage still.
 */
export async function requireReferences(
  { db, tenantId }: Scope,
  references: RangeReferences,
): Promise<void> {
  const [known] = await sqlRows<KnownReferences>(
    db.read,
    `select exists (select from account where tenant_id = :tenantId and id = :accountId::uuid) as "accountId",
       exists (select from contract where tenant_id = :tenantId and id = :contractId::uuid) as "contractId",
       exists (select from service where tenant_id = :tenantId and id = :serviceId::uuid) as "serviceId"`,
    { ...references, tenantId },
  );
  for (const field of ['accountId', 'contractId', 'serviceId'] as const) {
    const value = references[field];
    if (value === null || known?.[field] === true) continue;
    throw problem.validation(`'${field}' names no ${kinds[field]}: '${value}'`, { field, value });
  }
}
