import type { Scope } from '../../kernel/scope.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { mapInPortions } from '../../kernel/portions.js';
import { problem } from '../../kernel/problem.js';
import { Account } from '../../models/accounts/account.js';
import { AdjustmentCharge } from '../../models/billing/adjustments/adjustment-charge.js';
import { BilledDifference } from '../../models/billing/billed-difference.js';
import { CreditNote } from '../../models/billing/credit-note.js';
import { InvoiceItem } from '../../models/billing/invoice-item.js';
import { Invoice } from '../../models/billing/invoice.js';
import { RecurringCharge } from '../../models/billing/recurring-charge.js';
import { PaymentApplication } from '../../models/payments/payment-application.js';
import { getInvoice, missingInvoice } from '../../queries/billing/invoice.js';
import { releaseUsage } from '../../models/billing/unbilled-usage.js';
import { countCharges } from '../balances/trigger-alerts.js';
import { returnCredits } from '../balances/pay-charges.js';
import { voidPeriods } from './adjustments/void-periods.js';
import { applyFreedPayments } from '../payments/apply-freed-payments.js';
import { lockPaymentsOf } from '../payments/lock-payments.js';
import { recordInvoiceEvents } from './invoice-event.js';

/**
 * Voids a posted invoice (docs/decisions/0106): it keeps its number and its amounts, and nothing is
 * owed on it. The next run bills its charges again. Its payments are applied to other open
 * invoices, and the rest to the invoices of that run. A credit note against an invoice that becomes
 * void is owed again there (docs/decisions/0374).
 * 404: there is none. 409: it is void already, or has credit notes.
 */
export async function voidInvoice(scope: Scope, id: string, reason: string | null) {
  const { tenantId } = scope;
  await scope.db.transaction(async (trx) => {
    const found = await Invoice.query(trx).forTenant(tenantId).findById(id).select('accountId');
    if (!found) throw missingInvoice(id);
    // Locks the account first, as a billing run does: until the commit no run bills the released
    // charges.
    await Account.query(trx).forTenant(tenantId).findById(found.accountId).forNoKeyUpdate();
    // Locks payments before invoices, the order of all commands that apply payments.
    await lockPaymentsOf(trx, tenantId, id);
    const invoice = await Invoice.query(trx).forTenant(tenantId).findById(id).forNoKeyUpdate();
    if (!invoice) throw missingInvoice(id);
    if (invoice.invoiceStatus === 'Void') {
      throw problem.conflict(`The invoice '${invoice.invoiceNo}' is void already.`);
    }
    if (!new Decimal(invoice.creditedAmount).isZero()) {
      throw problem.conflict(
        `The invoice '${invoice.invoiceNo}' has credit notes: void them first.`,
      );
    }
    await PaymentApplication.release(trx, tenantId, id);
    const voidedAt = scope.now();
    await Invoice.query(trx).forTenant(tenantId).findById(id).patch({
      invoiceStatus: 'Void',
      voidedAt,
      voidReason: reason,
      balance: '0',
      paymentStatus: 'Unpaid',
      updatedAt: voidedAt,
    });
    await InvoiceItem.query(trx)
      .forTenant(tenantId)
      .where({ invoiceId: id })
      .patch({ balance: '0' });
    const charges = await RecurringCharge.void(trx, tenantId, id, voidedAt);
    const adjusted = await AdjustmentCharge.void(trx, tenantId, id, voidedAt);
    await BilledDifference.void(trx, tenantId, id, voidedAt);
    await releaseUsage(trx, tenantId, id);
    if (invoice.creditedInvoiceId !== null) {
      await CreditNote.giveBack(trx, tenantId, id);
      await PaymentApplication.follow(trx, tenantId, [invoice.creditedInvoiceId]);
    }
    await recordInvoiceEvents(scope, trx, 'invoice.voided', [id]);
    await applyFreedPayments(scope, trx, [found.accountId]);
    await voidPeriods(trx, scope, adjusted);
    // The next run makes these charges anew, and they draw again; usage keeps what has paid it.
    await returnCredits(
      trx,
      scope,
      charges.map(({ id: chargeId }) => ({ chargeId, under: chargeId })),
    );
    const counted = await mapInPortions(charges, ({ billStartDate: date, amount, ...charge }) => ({
      ...charge,
      date,
      amount: new Decimal(amount).negated(),
      volumes: [],
    }));
    await countCharges(trx, scope, counted);
  });
  return getInvoice(scope, id);
}
