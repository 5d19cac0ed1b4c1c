import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { BulkTable } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';
import { itemColumns, type InvoiceItemRow } from './invoice-rows.js';

/** A credit note against an invoice. */
export interface CreditNoteRow {
  readonly id: string;
  readonly invoiceNo: string;
  readonly invoiceDate: string;
  readonly periodStart: string | null;
  readonly periodEnd: string | null;
  readonly accountId: string;
  readonly contractId: string | null;
  readonly currency: string;
  readonly amount: Decimal;
  readonly taxAmount: Decimal;
  readonly executionId: string;
  readonly creditedInvoiceId: string;
  readonly creditReason: string;
}

export type CreditNoteItemRow = Omit<
  InvoiceItemRow,
  'serviceId' | 'exactAmount' | 'balance' | 'billStartDate' | 'billEndDate' | 'correctedInvoiceId'
> & {
  readonly serviceId: string | null;
  readonly exactAmount: Decimal | null;
  readonly billStartDate: string | null;
  readonly billEndDate: string | null;
  readonly creditedItemId: string;
};

/** What stands in each row: nothing is owed on a note against an invoice. */
const settled = {
  invoiceStatus: 'Posted',
  invoiceType: 'Credit Note',
  balance: '0',
  paymentStatus: 'Paid',
};

const notes = new BulkTable<CreditNoteRow & typeof settled>('invoice', {
  id: 'uuid',
  invoiceNo: 'text',
  invoiceDate: 'date',
  periodStart: 'date',
  periodEnd: 'date',
  accountId: 'uuid',
  contractId: 'uuid',
  invoiceStatus: 'text',
  invoiceType: 'text',
  currency: 'text',
  amount: 'numeric',
  taxAmount: 'numeric',
  balance: 'numeric',
  paymentStatus: 'text',
  executionId: 'uuid',
  creditedInvoiceId: 'uuid',
  creditReason: 'text',
});

const items = new BulkTable<CreditNoteItemRow & { readonly balance: string }>('invoice_item', {
  ...itemColumns,
  creditedItemId: 'uuid',
});

/** What is credited of an item. */
interface CreditedItem {
  readonly item: { readonly id: string };
  readonly amount: Decimal;
  readonly tax: Decimal;
}

/** Notes against invoices; they are rows of `invoice`, with columns of their own. */
export const CreditNote = {
  async insert(
    trx: Knex.Transaction,
    tenantId: string,
    note: CreditNoteRow,
    rows: readonly CreditNoteItemRow[],
  ): Promise<void> {
    await notes.insert(trx, tenantId, [{ ...note, ...settled }]);
    await items.insert(
      trx,
      tenantId,
      rows.map((row) => ({ ...row, balance: '0' })),
    );
  },

  /** Adds what a note credits to its invoice and items, which the caller holds. */
  async take(
    trx: Knex.Transaction,
    tenantId: string,
    invoiceId: string,
    total: Decimal,
    credited: readonly CreditedItem[],
  ): Promise<void> {
    await sqlRows(
      trx,
      `update invoice_item as item set credited_amount = credited_amount + given.amount,
         credited_tax = credited_tax + given.tax
       from unnest(?::uuid[], ?::numeric[], ?::numeric[]) as given (id, amount, tax)
       where item.tenant_id = ? and item.id = given.id`,
      [
        credited.map(({ item }) => item.id),
        credited.map(({ amount }) => amount.toFixed()),
        credited.map(({ tax }) => tax.toFixed()),
        tenantId,
      ],
    );
    await sqlRows(
      trx,
      `update invoice set credited_amount = credited_amount + :total::numeric,
         balance = greatest(0, least(balance, amount + tax_amount - credited_amount - :total::numeric))
       where tenant_id = :tenantId and id = :invoiceId`,
      { total: total.toFixed(), tenantId, invoiceId },
    );
  },

  /** Gives an invoice back what a note that becomes void has credited. */
  async giveBack(trx: Knex.Transaction, tenantId: string, noteId: string): Promise<void> {
    const bindings = { tenantId, noteId };
    await sqlRows(
      trx,
      `update invoice_item as item set credited_amount = item.credited_amount - own.amount,
         credited_tax = item.credited_tax - own.tax
       from invoice_item as own
       where own.tenant_id = :tenantId and own.invoice_id = :noteId
         and item.tenant_id = :tenantId and item.id = own.credited_item_id`,
      bindings,
    );
    await sqlRows(
      trx,
      `update invoice set credited_amount = invoice.credited_amount - note.amount - note.tax_amount
       from invoice as note
       where note.tenant_id = :tenantId and note.id = :noteId
         and invoice.tenant_id = :tenantId and invoice.id = note.credited_invoice_id`,
      bindings,
    );
  },
};
