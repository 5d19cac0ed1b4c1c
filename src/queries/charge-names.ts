import type { Knex } from 'knex';
import type { UsageGroup } from './unbilled-usage.js';

interface ServiceName {
  readonly name: string;
  readonly label: string | null;
  readonly code: string | null;
}

/** What items are called, and how they are taxed. */
export interface ChargeNames {
  readonly services: ReadonlyMap<string, ServiceName>;
  /** By id of a rate-card row. */
  readonly rows: ReadonlyMap<string, { readonly label: string; readonly taxCode: string | null }>;
}

interface ChargeOfLine {
  readonly service: ServiceName & { readonly id: string };
  readonly part: { readonly row: { readonly id: string } | null; readonly taxRowId: string | null };
}

/** The names of the services and rate-card rows of charges; services that were deleted have them too. */
export async function loadChargeNames(
  db: Knex,
  tenantId: string,
  usage: readonly UsageGroup[],
  charges: readonly ChargeOfLine[],
): Promise<ChargeNames> {
  const services = new Map<string, ServiceName>(
    charges.map(({ service }) => [service.id, service]),
  );
  const missing = usage.map(({ serviceId }) => serviceId).filter((id) => !services.has(id));
  if (missing.length > 0) {
    const { rows } = await db.raw<{ rows: (ServiceName & { id: string })[] }>(
      'select id, name, label, code from service where tenant_id = ? and id = any(?::uuid[])',
      [tenantId, [...new Set(missing)]],
    );
    for (const service of rows) services.set(service.id, service);
  }
  const rowIds = charges.flatMap(({ part }) => [part.row?.id, part.taxRowId ?? undefined]);
  const ids = [...new Set(rowIds.filter((id) => id !== undefined))];
  if (ids.length === 0) return { services, rows: new Map() };
  const { rows } = await db.raw<{ rows: { id: string; label: string; taxCode: string | null }[] }>(
    `select id, label, tax_code as "taxCode" from rate_card_row
     where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, ids],
  );
  return { services, rows: new Map(rows.map((row) => [row.id, row])) };
}
