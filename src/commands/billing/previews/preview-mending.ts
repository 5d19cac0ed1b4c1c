import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { Decimal } from '../../../kernel/numbers/money.js';
import { within, type Scope } from '../../../kernel/scope.js';
import { utcDate } from '../../../kernel/time/date.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { Invoice } from '../../../models/billing/invoice.js';
import { missingInvoice } from '../../../queries/billing/invoice.js';
import type { CreditNoteCreate } from '../../../schemas/billing/credit-note.js';
import {
  freedPaymentsShown,
  type CreditPreview,
  type VoidPreview,
} from '../../../schemas/billing/invoice-preview.js';
import { billEach } from '../bill-one-by-one.js';
import { creditInvoice } from '../credit-invoice.js';
import { voidInvoice } from '../void-invoice.js';

/** Of each statement, its waits for locks among it: others wait for the account meanwhile. */
const statementMs = 5_000;

/**
 * Does work in a transaction that is taken back, and returns what it has found. It is one within another,
 * so that nothing stays either where the caller has begun one.
 */
async function takenBack<T>(scope: Scope, work: (inner: Scope) => Promise<T>): Promise<T> {
  const found: T[] = [];
  const done = new Error('Nothing of this is kept.');
  await scope.db.transaction((outer) =>
    outer
      .transaction(async (trx) => {
        await trx.raw(`set local statement_timeout = ${statementMs}`);
        found.push(await work(within(scope, trx)));
        throw done;
      })
      .catch((error: unknown) => {
        if (error !== done) throw error;
      }),
  );
  return found[0] as T;
}

interface PayingRow {
  readonly paymentId: string;
  readonly paymentReference: string | null;
  /** Decimal texts: what of the invoice it pays, and what of it pays nothing. */
  readonly amount: string;
  readonly balance: string;
}

/** These payments, with what each pays of an invoice; without ids those that were applied to it last. */
const readPaying = (
  db: Knex,
  tenantId: string,
  invoiceId: string,
  ids?: readonly string[],
): Promise<PayingRow[]> =>
  sqlRows<PayingRow>(
    db,
    `select "paymentId", "paymentReference", amount, balance from (
       select payment.id as "paymentId", payment.payment_reference as "paymentReference",
         coalesce(one.amount, 0) as amount, payment.balance, payment.payment_date
       from payment ${ids ? 'left' : 'inner'} join payment_application as one
         on one.tenant_id = payment.tenant_id and one.payment_id = payment.id
         and one.invoice_id = :invoiceId
       where payment.tenant_id = :tenantId ${ids ? 'and payment.id = any(:ids::uuid[])' : ''}
       order by one.created_at desc, one.id desc limit :limit
     ) as paying order by payment_date, "paymentId"`,
    { tenantId, invoiceId, ids: ids ?? null, limit: freedPaymentsShown },
  );

/** Payments that pay less of the invoice than before. */
async function readFreed(
  db: Knex,
  tenantId: string,
  invoiceId: string,
  before: readonly PayingRow[],
) {
  const ids = before.map(({ paymentId }) => paymentId);
  const after = ids.length === 0 ? [] : await readPaying(db, tenantId, invoiceId, ids);
  const now = new Map(after.map((one) => [one.paymentId, one]));
  return before.flatMap(({ paymentId, paymentReference, amount }) => {
    const { amount: left = '0', balance = '0' } = now.get(paymentId) ?? {};
    const freed = new Decimal(amount).minus(left);
    const unapplied = new Decimal(balance);
    return freed.isZero() ? [] : [{ paymentId, paymentReference, amount: freed, unapplied }];
  });
}

async function readInvoice(db: Knex, tenantId: string, id: string): Promise<Invoice> {
  const found = await Invoice.query(db).forTenant(tenantId).findById(id);
  if (!found) throw missingInvoice(id);
  return found;
}

/**
 * What a credit note would come to: it is made, and taken back with all that came of it. Refused as the
 * note itself would be.
 */
export const previewCreditNote = (
  scope: Scope,
  invoiceId: string,
  note: CreditNoteCreate,
): Promise<CreditPreview> =>
  takenBack(scope, async (inner) => {
    const { tenantId, db } = inner;
    const before = await readInvoice(db.read, tenantId, invoiceId);
    const paying = await readPaying(db.read, tenantId, invoiceId);
    const made = await creditInvoice(inner, { ...note, invoiceId, executionId: newId() });
    const after = await readInvoice(db.read, tenantId, invoiceId);
    const { currency, amount, taxAmount, total } = made;
    return {
      currency,
      amount,
      taxAmount,
      total,
      balanceBefore: new Decimal(before.balance),
      balanceAfter: new Decimal(after.balance),
      payments: await readFreed(db.read, tenantId, invoiceId, paying),
    };
  });

/**
 * What wallets got back by the void of an invoice. Its entries are all from the first return on: what was
 * due before is entered before it, and what grants that have ended lose again follows.
 */
async function readReturned(db: Knex, tenantId: string, invoiceId: string) {
  const rows = await sqlRows<{ walletId: string; amount: string }>(
    db,
    `select entry.wallet_id as "walletId", sum(entry.amount) as amount
     from wallet_entry as entry join (
       select wallet_id, min(number) as number from wallet_entry
       where tenant_id = :tenantId and kind = 'return' and charge_id in (
         select id from recurring_charge where tenant_id = :tenantId and invoice_id = :invoiceId)
       group by 1
     ) as first on first.wallet_id = entry.wallet_id and first.number <= entry.number
     where entry.tenant_id = :tenantId
     group by 1 having sum(entry.amount) <> 0 order by 1`,
    { tenantId, invoiceId },
  );
  return rows.map(({ walletId, amount }) => ({ walletId, amount: new Decimal(amount) }));
}

/**
 * What a billing run of an invoice's account and period would make now. What credited an invoice is
 * billed by none: that invoice is owed again.
 */
async function billAgain(scope: Scope, invoice: Invoice) {
  const { accountId, periodStart, periodEnd, creditedInvoiceId } = invoice;
  if (creditedInvoiceId !== null || periodStart === null || periodEnd === null) {
    return { rebilled: [], problems: [] };
  }
  const { invoices, problems } = await billEach(
    scope,
    {
      executionId: newId(),
      accountIds: [accountId],
      isNamed: true,
      isDryRun: true,
      period: { first: periodStart, last: periodEnd },
      invoiceDate: utcDate(scope.now()),
    },
    (error) => {
      throw error;
    },
  );
  const rebilled = invoices.map(({ invoiceType, currency, amount, taxAmount }) => ({
    invoiceType,
    currency,
    amount,
    taxAmount,
    total: amount.plus(taxAmount),
  }));
  return { rebilled, problems: [...problems] };
}

/**
 * What voiding an invoice would do, and what would be billed instead: it is voided, billed dry, and all
 * of it is taken back. Refused as voiding it would be.
 */
export const previewVoid = (scope: Scope, invoiceId: string): Promise<VoidPreview> =>
  takenBack(scope, async (inner) => {
    const { tenantId, db } = inner;
    const before = await readInvoice(db.read, tenantId, invoiceId);
    const paying = await readPaying(db.read, tenantId, invoiceId);
    const { total } = await voidInvoice(inner, invoiceId, null);
    const after = await readInvoice(db.read, tenantId, invoiceId);
    return {
      currency: before.currency,
      total,
      balanceBefore: new Decimal(before.balance),
      balanceAfter: new Decimal(after.balance),
      payments: await readFreed(db.read, tenantId, invoiceId, paying),
      wallets: await readReturned(db.read, tenantId, invoiceId),
      ...(await billAgain(inner, before)),
    };
  });
