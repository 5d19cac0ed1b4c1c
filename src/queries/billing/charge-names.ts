import type { Knex } from 'knex';
import type { UsageGroup } from '../../models/billing/usage-items.js';
import { eachInPortions } from '../../kernel/portions.js';
import { sqlRows } from '../../models/db/sql-rows.js';

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
  /** What volumes count: the label of a priceable attribute, else its name, by its id. */
  readonly units: ReadonlyMap<string, string>;
  /** The numbers of invoices that are corrected, by id. */
  readonly invoices: ReadonlyMap<string, string>;
}

interface ChargeOfLine {
  readonly service: ServiceName & { readonly id: string };
  readonly part: {
    readonly row: { readonly id: string; readonly attributeId: string } | null;
    readonly taxRowId: string | null;
  };
}

async function loadUnits(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sqlRows<{ id: string; unit: string }>(
    db,
    `select id, coalesce(label, name) as "unit" from attribute
     where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, ids],
  );
  return new Map(rows.map(({ id, unit }) => [id, unit]));
}

async function loadInvoiceNumbers(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sqlRows<{ id: string; invoiceNo: string }>(
    db,
    `select id, invoice_no as "invoiceNo" from invoice where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, [...new Set(ids)]],
  );
  return new Map(rows.map(({ id, invoiceNo }) => [id, invoiceNo]));
}

/** The names of the services and rate-card rows of charges; services that were deleted have them too. */
export async function loadChargeNames(
  db: Knex,
  tenantId: string,
  usage: readonly UsageGroup[],
  charges: readonly ChargeOfLine[],
): Promise<ChargeNames> {
  const services = new Map<string, ServiceName>();
  const ids = { services: new Set<string>(), units: new Set<string>(), rows: new Set<string>() };
  await eachInPortions(charges, ({ service, part: { row, taxRowId } }) => {
    services.set(service.id, service);
    if (row !== null) {
      ids.units.add(row.attributeId);
      ids.rows.add(row.id);
    }
    if (taxRowId !== null) ids.rows.add(taxRowId);
  });
  await eachInPortions(usage, ({ serviceId, dimensionId }) => {
    if (!services.has(serviceId)) ids.services.add(serviceId);
    if (dimensionId !== null) ids.units.add(dimensionId);
  });
  if (ids.services.size > 0) {
    const rows = await sqlRows<ServiceName & { id: string }>(
      db,
      'select id, name, label, code from service where tenant_id = ? and id = any(?::uuid[])',
      [tenantId, [...ids.services]],
    );
    for (const service of rows) services.set(service.id, service);
  }
  const invoices = await loadInvoiceNumbers(
    db,
    tenantId,
    usage.flatMap(({ correctedInvoiceId }) => correctedInvoiceId ?? []),
  );
  const units = await loadUnits(db, tenantId, [...ids.units]);
  if (ids.rows.size === 0) return { services, units, invoices, rows: new Map() };
  const rows = await sqlRows<{ id: string; label: string; taxCode: string | null }>(
    db,
    `select id, label, tax_code as "taxCode" from rate_card_row
     where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, [...ids.rows]],
  );
  return { services, units, invoices, rows: new Map(rows.map((row) => [row.id, row])) };
}
