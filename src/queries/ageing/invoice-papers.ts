import type { Knex } from 'knex';
import { sqlRows } from '../../models/db/sql-rows.js';

/** Invoices whose paper is not stored as it is now: its PDF, and of a void one the copy that says so. */
const unkeptSql = `
  from invoice where invoice.tenant_id = :tenantId and invoice.account_id = :accountId
    and not exists (
      select from invoice_document as document
      where document.tenant_id = invoice.tenant_id and document.invoice_id = invoice.id
        and document.content_type = 'application/pdf'
        and document.is_void = (invoice.voided_at is not null)
    )`;

/** Ids of some invoices of an account without their paper, the first ones. */
export async function listUnkeptPapers(
  db: Knex,
  tenantId: string,
  accountId: string,
  limit: number,
): Promise<string[]> {
  const rows = await sqlRows<{ id: string }>(
    db,
    `select invoice.id ${unkeptSql} order by invoice.id limit :limit`,
    { tenantId, accountId, limit },
  );
  return rows.map(({ id }) => id);
}

/** The number of an invoice of an account without its paper; undefined: all have it. */
export async function findUnkeptPaper(
  db: Knex,
  tenantId: string,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sqlRows<{ invoiceNo: string }>(
    db,
    `select invoice_no as "invoiceNo" ${unkeptSql} order by invoice.id limit 1`,
    { tenantId, accountId },
  );
  return row?.invoiceNo;
}
