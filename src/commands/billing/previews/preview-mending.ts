import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import { within, type Scope } from '../../../kernel/scope.js';
import { utcDate } from '../../../kernel/time/date.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { Invoice } from '../../../models/billing/invoice.js';
import { missingInvoice } from '../../../queries/billing/invoice.js';
import type { CreditNoteCreate } from '../../../schemas/billing/credit-note.js';
import type { CreditPreview, VoidPreview } from '../../../schemas/billing/invoice-preview.js';
import { billEach } from '../bill-one-by-one.js';
import { creditInvoice } from '../credit-invoice.js';
import { voidInvoice } from '../void-invoice.js';

/** Does work in a transaction that is taken back, and returns what it has found. */
async function takenBack<T>(scope: Scope, work: (inner: Scope) => Promise<T>): Promise<T> {
  const found: T[] = [];
  const done = new Error('Nothing of this is kept.');
  await scope.db
    .transaction(async (trx) => {
      found.push(await work(within(scope, trx)));
      throw done;
    })
    .catch((error: unknown) => {
      if (error !== done) throw error;
    });
  return found[0] as T;
}

interface PayingRow {
  readonly paymentId: string;
  readonly paymentReference: string | null;
  /** Decimal texts: what of the invoice it pays, and what of it pays nothing. */
  readonly amount: string;
  readonly balance: string;
}

/** Payments of an account, with what each pays of an invoice of it. */
const readPaying = (db: Knex, tenantId: string, { id, accountId }: Invoice): Promise<PayingRow[]> =>
  sqlRows<PayingRow>(
    db,
    `select payment.id as "paymentId", payment.payment_reference as "paymentReference",
       coalesce(one.amount, 0) as amount, payment.balance
     from payment left join payment_application as one
       on one.tenant_id = payment.tenant_id and one.payment_id = payment.id
       and one.invoice_id = :id
     where payment.tenant_id = :tenantId and payment.account_id = :accountId
     order by payment.payment_date, payment.id`,
    { tenantId, id, accountId },
  );

/** Payments that pay less of the invoice than before. */
function freedOf(before: readonly PayingRow[], after: readonly PayingRow[]) {
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
    const paying = await readPaying(db.read, tenantId, before);
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
      payments: freedOf(paying, await readPaying(db.read, tenantId, before)),
    };
  });

/** The balances of an account's wallets, by their ids. */
async function readWallets(
  db: Knex,
  tenantId: string,
  accountId: string,
): Promise<ReadonlyMap<string, Decimal>> {
  const rows = await sqlRows<{ walletId: string; balance: string }>(
    db,
    `select wallet_id as "walletId", balance from wallet_balance
     where tenant_id = ? and account_id = ? order by wallet_id`,
    [tenantId, accountId],
  );
  return new Map(rows.map(({ walletId, balance }) => [walletId, new Decimal(balance)]));
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
    const { accountId, currency } = before;
    const paying = await readPaying(db.read, tenantId, before);
    const wallets = await readWallets(db.read, tenantId, accountId);
    const { total } = await voidInvoice(inner, invoiceId, null);
    const after = await readInvoice(db.read, tenantId, invoiceId);
    const risen = [...(await readWallets(db.read, tenantId, accountId))].flatMap(
      ([walletId, balance]) => {
        const amount = balance.minus(wallets.get(walletId) ?? ZERO);
        return amount.isZero() ? [] : [{ walletId, amount }];
      },
    );
    return {
      currency,
      total,
      balanceBefore: new Decimal(before.balance),
      balanceAfter: new Decimal(after.balance),
      payments: freedOf(paying, await readPaying(db.read, tenantId, before)),
      wallets: risen,
      ...(await billAgain(inner, before)),
    };
  });
