import type { Knex } from 'knex';
import type { BillingProblem } from '../../messages/billing-run.js';
import type { Days } from '../../kernel/time/billing-calendar.js';
import { TooManyCharges, usageLimits } from './charge-limit.js';
import { dueDateOf } from '../../kernel/time/due-date.js';
import { newId } from '../../kernel/id.js';
import { mapInPortions } from '../../kernel/portions.js';
import { ZERO } from '../../kernel/numbers/money.js';
import { sharesKey } from '../../kernel/numbers/share.js';
import type { Scope } from '../../kernel/scope.js';
import { invoiceNumber, takeInvoiceNumbers } from '../../models/billing/invoice-number.js';
import { insertInvoices } from '../../models/billing/invoice-rows.js';
import { claimUsage, closeUsage, postponeUsage } from '../../models/billing/unbilled-usage.js';
import { Account } from '../../models/accounts/account.js';
import { StoredRatingPlan } from '../../models/usage/plans/rating-plan.js';
import { RecurringCharge, type RecurringChargeRow } from '../../models/billing/recurring-charge.js';
import {
  findEndedAccounts,
  loadBillingAccounts,
  loadBillingLines,
  type BillingAccount,
} from '../../queries/billing/billing-account.js';
import { loadChargeNames, type ChargeNames } from '../../queries/billing/charge-names.js';
import { loadPeriodAdjustments } from '../../queries/billing/adjustments/period-adjustment.js';
import { loadTaxRates } from '../../queries/billing/tax-rate.js';
import { previewUsage } from '../../queries/billing/unbilled-usage.js';
import { countCharges, type CountedCharge } from '../balances/trigger-alerts.js';
import { payCharges, type UnpaidCharge } from '../balances/pay-charges.js';
import { applyFreedPayments } from '../payments/apply-freed-payments.js';
import {
  draftOfPeriod,
  insertPeriodCharges,
  periodItems,
  shownItems,
  settlePeriods,
} from './adjustments/bill-periods.js';
import { findPeriodCharges } from './adjustments/period-charges.js';
import {
  findUncredited,
  nothingPaid,
  payableOfPeriods,
  readPeriodCredits,
} from './adjustments/period-credits.js';
import { returnUncredited } from './adjustments/return-uncredited.js';
import {
  invoiceRow,
  itemRow,
  presentBilledInvoices,
  type BilledInvoice,
} from './billed-invoice.js';
import {
  chargeOfLine,
  chargeOfUsage,
  descriptionOf,
  nameCharges,
  type NamedCharge,
} from './draft-charges.js';
import { draftInvoices, findMissingTaxRates, type InvoiceDraft } from './invoice-draft.js';
import { findDifferences, keepDifferences } from './differences/credited-before.js';
import { findCreditedPeriods } from './differences/credited-periods.js';
import {
  correctedAccounts,
  withoutWaiting,
  type WaitingDifference,
} from './differences/waiting-differences.js';
import { findRecurringCharges } from './recurring/recurring-charges.js';
import { recordWebhookEvents } from '../webhooks/webhook-event.js';

/** Accounts to bill for a period, and the execution of the billing run that bills them. */
export interface BillAccounts {
  readonly executionId: string;
  readonly period: Days;
  readonly invoiceDate: string;
  readonly accountIds: readonly string[];
  /** Whether the run is for one account that was named. */
  readonly isNamed: boolean;
  readonly isDryRun: boolean;
}

export interface BilledAccounts {
  readonly invoices: readonly BilledInvoice[];
  readonly problems: readonly BillingProblem[];
  /** What corrections come to that waits for something else to be billed. */
  readonly owed: readonly (WaitingDifference & { readonly correctedInvoiceNo: string })[];
}

/**
 * Bills accounts in one transaction (docs/decisions/0100 to 0104): claims their unbilled usage,
 * adds the recurring charges that fall due, numbers and posts their invoices. Charges that are
 * already billed are not selected again, so a repeated call is idempotent. A dry run is the same
 * computation without locks and writes. Before it, a short transaction of its own closes the billed
 * days (docs/decisions/0110).
 */
export async function billAccounts(scope: Scope, request: BillAccounts): Promise<BilledAccounts> {
  const { tenantId } = scope;
  const { accountIds, isDryRun, period } = request;
  if (!isDryRun) {
    await scope.db.transaction((trx) => closeUsage(trx, tenantId, accountIds, period.last));
  }
  return scope.db.transaction(async (trx) => {
    if (!isDryRun) await Account.holdAll(trx, tenantId, accountIds);
    const due = await findDue(trx, tenantId, request);
    const { accounts, recurring, names, owed } = due;
    if (due.isNothing) return { invoices: [], problems: recurring.problems, owed };
    const { charges, periods, uncredited } = await draftCharges(trx, scope, due, isDryRun);
    const exempt = new Set(accounts.filter(({ isTaxExempt }) => isTaxExempt).map(({ id }) => id));
    const drafts = await draftInvoices(charges, await loadTaxRates(trx, tenantId), exempt);
    const invoices = datedInvoices(drafts, accounts, request, names);
    const problems = [...recurring.problems, ...findMissingTaxRates(invoices)];
    if (isDryRun) return { invoices, problems, owed };
    const posted = await postInvoices(trx, tenantId, invoices, request.executionId);
    await insertCharges(trx, tenantId, recurring.charges, names);
    await insertPeriodCharges(trx, tenantId, periods, uncredited);
    await keepDifferences(trx, tenantId, due.differences);
    await returnUncredited(trx, scope, uncredited, due.credits);
    await countCharges(trx, scope, await mapInPortions(recurring.charges, countedOf));
    await recordPostedInvoices(trx, scope, posted, request.executionId);
    await applyFreedPayments(scope, trx, [...new Set(posted.map((one) => one.accountId))]);
    return { invoices: posted, problems, owed };
  });
}

/** What is due of accounts: usage, which is claimed, recurring charges, and what adjustments bill. */
async function findDue(
  trx: Knex.Transaction,
  tenantId: string,
  { accountIds, isDryRun, isNamed, period }: BillAccounts,
) {
  const accounts = await loadBillingAccounts(trx, tenantId, accountIds);
  const lines = await loadBillingLines(trx, tenantId, accountIds);
  if (!lines) throw new TooManyCharges('The contract lines have more than 64 MiB of prices');
  const facts = { accounts, lines, isNamed, run: period };
  const due = await findRecurringCharges(trx, tenantId, facts);
  const seed = newId();
  const recurring = { ...due, charges: await nameCharges(due.charges, seed) };
  const billed = [...recurring.windows.keys()];
  // Before usage is claimed, which moves the day up to which accounts are billed.
  const adjustments = await loadPeriodAdjustments(trx, tenantId, billed);
  const takeUsage = isDryRun ? previewUsage : claimUsage;
  const taken = await takeUsage(trx, tenantId, {
    accountIds: billed,
    until: period.last,
    cutoffs: recurring.cutoffs,
    seed,
    ...usageLimits,
  });
  if (!taken) {
    const { itemsMax, tiersMax } = usageLimits;
    throw new TooManyCharges(
      `The usage of this period makes more than ${itemsMax} items, or has more than ${tiersMax} tiers. Bill it in shorter ones`,
    );
  }
  const names = await loadChargeNames(trx, tenantId, taken, recurring.charges);
  const { charges, windows } = recurring;
  const found = await findPeriodCharges(trx, tenantId, {
    adjustments,
    usage: taken,
    recurring: charges,
    names,
    windows,
  });
  if (!isDryRun) await settlePeriods(trx, tenantId, found);
  const credits = await readPeriodCredits(trx, tenantId, found);
  const periods = await periodItems(found, seed);
  // What recurring charges change of it is on invoices that there are for these anyway.
  const unpaid = await findUncredited(periods, [], credits, nothingPaid);
  const billedPeriods = shownItems(periods, unpaid);
  const others = new Set([
    ...charges.map(({ ids }) => ids.invoiceId),
    ...billedPeriods.map(({ invoiceId }) => invoiceId),
  ]);
  const ended = await findEndedAccounts(trx, tenantId, correctedAccounts(taken), period.last);
  const { usage, waiting, owed: unbilled } = withoutWaiting(taken, others, ended);
  if (!isDryRun) await postponeUsage(trx, tenantId, waiting);
  const given = {
    seed,
    invoiceIds: new Set([...others, ...usage.map(({ invoiceId }) => invoiceId)]),
    accountIds: billed,
  };
  const ofUsage = await findDifferences(trx, tenantId, { ...given, usage, periods: found });
  const ofPeriods = await findCreditedPeriods(trx, tenantId, { ...given, periods });
  const differences = {
    charges: [...ofUsage.charges, ...ofPeriods.charges],
    rows: [...ofUsage.rows, ...ofPeriods.rows],
  };
  const owed = unbilled.map((one) => ({
    ...one,
    correctedInvoiceNo: names.invoices.get(one.correctedInvoiceId) ?? '',
  }));
  const isNothing = usage.length + charges.length + billedPeriods.length === 0;
  const ofPeriod = { periods, credits, differences };
  return { accounts, recurring, usage, names, ...ofPeriod, owed, isNothing };
}

/** What is due as the charges that become items, with what grants pay of it. */
async function draftCharges(
  trx: Knex.Transaction,
  scope: Scope,
  due: Awaited<ReturnType<typeof findDue>>,
  isDryRun: boolean,
) {
  const { recurring, usage, names, credits, differences } = due;
  const payable = [
    ...(await mapInPortions(recurring.charges, payableOf)),
    ...(await payableOfPeriods(due.periods, credits)),
  ];
  const paid = await payCharges(trx, scope, payable, { mode: isDryRun ? 'preview' : 'write' });
  const paidOf = (id: string) => paid.get(id) ?? ZERO;
  const uncredited = await findUncredited(due.periods, recurring.charges, credits, {
    ofRecurring: (one) => paidOf(one.ids.chargeId),
    ofItem: ({ chargeId }) => paidOf(chargeId),
  });
  const periods = shownItems(due.periods, uncredited);
  const charges = [
    ...(await mapInPortions(recurring.charges, (charge) => chargeOfLine(charge, names, paid))),
    ...(await mapInPortions(usage, (group) => chargeOfUsage(group, names))),
    ...differences.charges,
    ...(await mapInPortions(periods, (item) => {
      const back = uncredited.get(item)?.onInvoice ?? ZERO;
      return draftOfPeriod(item, paidOf(item.chargeId).minus(back));
    })),
  ];
  return { charges, periods, uncredited };
}

/** A recurring charge as grants may pay it. */
const payableOf = (charge: NamedCharge): UnpaidCharge => ({
  id: charge.ids.chargeId,
  accountId: charge.part.billedAccountId,
  currency: charge.part.currency,
  serviceId: charge.service.id,
  usageType: charge.part.usageType,
  amount: charge.part.amount,
});

/** The same as the figures of alerts count it. */
const countedOf = ({ line, service, part }: NamedCharge): CountedCharge => ({
  date: part.days.first,
  accountId: part.billedAccountId,
  contractId: line.contractId,
  serviceId: service.id,
  currency: part.currency,
  usageType: part.usageType,
  amount: part.amount,
  volumes: [],
});

function datedInvoices(
  drafts: readonly InvoiceDraft[],
  accounts: readonly BillingAccount[],
  { invoiceDate, period }: BillAccounts,
  names: ChargeNames,
): BilledInvoice[] {
  const known = new Map(accounts.map((account) => [account.id, account]));
  return drafts
    .map((draft) => ({
      ...draft,
      invoiceNo: null,
      invoiceDate,
      period,
      names,
      accountName: known.get(draft.accountId)?.name ?? null,
      // Nobody has to pay a credit note.
      dueDate: isCreditNote(draft)
        ? null
        : dueDateOf(invoiceDate, known.get(draft.accountId)?.netTerm ?? null),
    }))
    .sort((a, b) => compare(sortKey(a), sortKey(b)));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Invoices before credit notes, by account and currency: the order of their numbers. */
const sortKey = ({ accountId, invoiceType, currency }: InvoiceDraft): string =>
  `${accountId}/${invoiceType === 'Invoice' ? 0 : 1}/${currency}`;

const isCreditNote = ({ invoiceType }: InvoiceDraft): boolean => invoiceType === 'Credit Note';

async function postInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  invoices: readonly BilledInvoice[],
  executionId: string,
): Promise<BilledInvoice[]> {
  // Locks the number series, so it comes last: until the commit no other run of the tenant can
  // number its invoices.
  const creditNotes = invoices.filter(isCreditNote).length;
  const next = await takeInvoiceNumbers(trx, tenantId, {
    invoices: invoices.length - creditNotes,
    creditNotes,
  });
  const numbered = invoices.map((invoice) => ({
    ...invoice,
    invoiceNo: isCreditNote(invoice)
      ? invoiceNumber('CN', next.creditNote++)
      : invoiceNumber('INV', next.invoice++),
  }));
  const rows: ReturnType<typeof itemRow>[] = [];
  for (const { items, names } of numbered) {
    rows.push(...(await mapInPortions(items, (item, index) => itemRow(item, index, names))));
  }
  await insertInvoices(
    trx,
    tenantId,
    numbered.map((invoice) => invoiceRow(invoice, executionId)),
    rows,
  );
  return numbered;
}

async function insertCharges(
  trx: Knex.Transaction,
  tenantId: string,
  charges: readonly NamedCharge[],
  names: ChargeNames,
): Promise<void> {
  const plans = new Set(charges.map(({ part }) => part.plan));
  for (const plan of plans) await StoredRatingPlan.prepare(plan);
  await StoredRatingPlan.insertMissing(trx, tenantId, plans);
  const rows = await mapInPortions(charges, (charge): RecurringChargeRow => {
    const { line, service, part, type, due, position } = charge;
    const { invoiceId, itemId, chargeId } = charge.ids;
    return {
      id: chargeId,
      accountId: part.billedAccountId,
      masterAccountId: line.account.id,
      contractId: line.contractId,
      contractServiceId: line.id,
      serviceId: service.id,
      lineageId: line.lineageId,
      chargeType: type,
      usageType: part.usageType,
      currency: part.currency,
      position,
      periodStart: due.period.first,
      periodEnd: due.period.last,
      billStartDate: part.days.first,
      billEndDate: part.days.last,
      lineStart: line.startDate,
      name: part.name,
      dimensionId: part.row?.attributeId ?? null,
      description: descriptionOf(charge, names),
      priceMethod: part.row?.method ?? null,
      volume: part.volume,
      rate: part.rate,
      amount: part.amount,
      discount: part.discount,
      sharedBy: part.share ? sharesKey(line.shares) : null,
      isProrated: part.isProrated ? 'true' : 'false',
      taxCode: names.rows.get(part.taxRowId ?? '')?.taxCode ?? null,
      planId: StoredRatingPlan.idOf(part.plan),
      dimensions: JSON.stringify(part.dimensions),
      invoiceId,
      invoiceItemId: itemId,
    };
  });
  await RecurringCharge.insertMany(trx, tenantId, rows);
}

async function recordPostedInvoices(
  trx: Knex.Transaction,
  scope: Scope,
  invoices: readonly BilledInvoice[],
  executionId: string,
): Promise<void> {
  await recordWebhookEvents(trx, scope, ['invoice.posted'], async () => {
    const shown = await presentBilledInvoices(invoices, undefined, executionId);
    return shown.map((data) => ({ event: 'invoice.posted' as const, recordId: data.id, data }));
  });
}
