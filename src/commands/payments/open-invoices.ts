import type { Knex } from 'knex';
import { ZERO, type Decimal } from '../../kernel/numbers/money.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The invoices of one kind that an account owes in a currency, and the money that there is for them. */
export interface OpenBook {
  readonly accountId: string;
  readonly currency: string;
  /** Invoice or Credit Note. */
  readonly invoiceType: string;
  readonly amount: Decimal;
  /** How many of them it may pay at the most. */
  readonly most: number;
}

/**
 * How many invoices a payment pays at once, and in all: each is a row that is held, told of and shown, in one
 * transaction and in one answer (docs/decisions/0497).
 */
export const paidMax = { atOnce: 1_000, inAll: 10_000 };

/** How many more invoices a payment may pay at once that pays so many. */
export const roomAfter = (paid: number): number =>
  Math.min(paidMax.atOnce, Math.max(0, paidMax.inAll - paid));

export interface OpenInvoice {
  readonly id: string;
  /** Decimal text, above 0. */
  readonly balance: string;
}

/** How many are read of a book at first: most amounts pay fewer. */
const leastRead = 100;
/** By what the number grows where an amount pays more. */
const growth = 8;

/**
 * The open invoices that amounts pay, the oldest due first, in the order of the books; held until the
 * transaction ends. An account may owe a hundred thousand invoices for which nothing is left: those are
 * neither read nor held (docs/decisions/0487).
 */
export async function lockOpenInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  books: readonly OpenBook[],
): Promise<OpenInvoice[][]> {
  const found = books.map((): OpenInvoice[] => []);
  let asked = books.map((book, place) => ({ book, place }));
  for (let limit = leastRead; asked.length > 0; limit *= growth) {
    const rows = await readOldest(trx, tenantId, asked, limit);
    for (const { place } of asked) found[place] = [];
    for (const { place, ...invoice } of rows) found[place]?.push(invoice);
    asked = asked.filter(({ book: { amount, most }, place }) => {
      const open = found[place] ?? [];
      return open.length === limit && limit < most && sumOf(open).lt(amount);
    });
  }
  return found;
}

/** Holds invoices until the transaction ends, the oldest due first, as all do who hold many. */
export async function lockInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  await sqlRows(
    trx,
    `select count(*) from (
       select from invoice where tenant_id = ? and id = any(?::uuid[])
       order by due_date, invoice_date, id for update
     ) as held`,
    [tenantId, ids],
  );
}

const sumOf = (open: readonly OpenInvoice[]): Decimal =>
  open.reduce((sum, { balance }) => sum.plus(balance), ZERO);

/** The oldest open invoices of each book, up to a number, with the place of the book. */
const readOldest = (
  trx: Knex.Transaction,
  tenantId: string,
  asked: readonly { readonly book: OpenBook; readonly place: number }[],
  limit: number,
): Promise<(OpenInvoice & { readonly place: number })[]> =>
  sqlRows(
    trx,
    `select book.place, open.id, open.balance
     from unnest(:places::int[], :accountIds::uuid[], :currencies::text[], :types::text[], :limits::int[])
       as book (place, account_id, currency, invoice_type, most)
     cross join lateral (
       select invoice.id, invoice.balance, invoice.due_date, invoice.invoice_date from invoice
       where invoice.tenant_id = :tenantId and invoice.account_id = book.account_id
         and invoice.currency = book.currency and invoice.invoice_type = book.invoice_type
         and invoice.invoice_status = 'Posted' and invoice.balance > 0
       order by invoice.due_date, invoice.invoice_date, invoice.id limit book.most for update
     ) as open
     order by book.place, open.due_date, open.invoice_date, open.id`,
    {
      tenantId,
      limits: asked.map(({ book }) => Math.min(limit, book.most)),
      places: asked.map(({ place }) => place),
      accountIds: asked.map(({ book }) => book.accountId),
      currencies: asked.map(({ book }) => book.currency),
      types: asked.map(({ book }) => book.invoiceType),
    },
  );
