import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** The next number of each series. */
interface InvoiceNumbers {
  invoice: number;
  creditNote: number;
}

/**
 * Takes consecutive numbers of each series and returns the first. Other transactions that need
 * numbers wait until this one ends, so that a rollback leaves no gap.
 */
export async function takeInvoiceNumbers(
  trx: Knex.Transaction,
  tenantId: string,
  { invoices, creditNotes }: { readonly invoices: number; readonly creditNotes: number },
): Promise<InvoiceNumbers> {
  const rows = await sqlRows<{ invoice: string; creditNote: string }>(
    trx,
    `insert into invoice_counter as known (tenant_id, next_number, next_credit_note)
     values (:tenantId, 1 + :invoices::bigint, 1 + :creditNotes::bigint)
     on conflict (tenant_id) do update set
       next_number = known.next_number + :invoices::bigint,
       next_credit_note = known.next_credit_note + :creditNotes::bigint
     returning next_number - :invoices::bigint as "invoice",
       next_credit_note - :creditNotes::bigint as "creditNote"`,
    { tenantId, invoices, creditNotes },
  );
  return { invoice: Number(rows[0]?.invoice), creditNote: Number(rows[0]?.creditNote) };
}

/** The number of an invoice as it is written (docs/decisions/0103, 0233). */
export const invoiceNumber = (series: 'INV' | 'CN', number: number): string =>
  `${series}-${String(number).padStart(6, '0')}`;
