import type { Knex } from 'knex';
import { Decimal, roundAmount, sum, ZERO } from '../../../kernel/numbers/money.js';
import { eachInPortions, mapInPortions } from '../../../kernel/portions.js';
import type { AdjustmentCharge } from '../../../models/billing/adjustments/adjustment-charge.js';
import { WalletEntry } from '../../../models/balances/wallet-entry.js';
import { netOfGrants, negated, type GrantPart } from '../../balances/grant-part.js';
import type { OwedBack, UnpaidCharge } from '../../balances/pay-charges.js';
import type { NamedCharge } from '../draft-charges.js';
import type { PeriodItem } from './bill-periods.js';
import { shorterFirst } from './order-of-periods.js';
import { recurringByDay, type PeriodCharge } from './period-charges.js';

/** What grants have paid of what adjustments billed before, by its id; below zero what they got back. */
export type PeriodCredits = ReadonlyMap<string, readonly GrantPart[]>;

export async function readPeriodCredits(
  trx: Knex.Transaction,
  tenantId: string,
  charges: readonly PeriodCharge[],
): Promise<PeriodCredits> {
  const rows = charges.flatMap(({ earlier, countedBefore, withinBefore }) => [
    ...earlier,
    ...countedBefore,
    ...withinBefore,
  ]);
  const ids = [...new Set(rows.map(({ id }) => id))];
  const found = ids.length === 0 ? [] : await WalletEntry.credits(trx, tenantId, ids);
  const byId = new Map<string, GrantPart[]>();
  await eachInPortions(found, ({ chargeId, grantId, walletId, amount }) => {
    const parts = byId.get(chargeId) ?? [];
    parts.push({ grantId, walletId, amount: new Decimal(amount) });
    byId.set(chargeId, parts);
  });
  return byId;
}

/** What grants have paid of these, and not got back, those that did last first. */
export const partsOfRows = (
  rows: readonly AdjustmentCharge[],
  credits: PeriodCredits,
): readonly GrantPart[] => netOfGrants(rows.flatMap(({ id }) => credits.get(id) ?? []).reverse());

const paidOf = (rows: readonly AdjustmentCharge[], credits: PeriodCredits): Decimal =>
  sum(partsOfRows(rows, credits).map(({ amount }) => amount));

const liveOf = (rows: readonly AdjustmentCharge[]): readonly AdjustmentCharge[] =>
  rows.filter(({ voidedAt }) => voidedAt === null);

/** What invoices that are not void say that grants have paid of these, below zero what they took back. */
function shownOf(rows: readonly AdjustmentCharge[], credits: PeriodCredits): Decimal {
  const live = liveOf(rows);
  const given = live.map(({ returned, uncredited }) => new Decimal(returned).minus(uncredited));
  return sum([paidOf(live, credits), ...given]);
}

const amountOf = (rows: readonly AdjustmentCharge[]): Decimal =>
  sum(liveOf(rows).map(({ amount }) => new Decimal(amount)));

/** What of credits has to go back: of the invoice, and of it to the wallets. */
export interface Uncredited {
  readonly onInvoice: Decimal;
  readonly returned: Decimal;
}

/** What grants pay of what a run bills; nothing, while that is not known. */
export interface PaidNow {
  readonly ofRecurring: (charge: NamedCharge) => Decimal;
  readonly ofItem: (item: PeriodItem) => Decimal;
}
export const nothingPaid: PaidNow = { ofRecurring: () => ZERO, ofItem: () => ZERO };

/**
 * What grants have paid of periods while a run goes through them: shorter ones first, since longer ones hold
 * them, and of one length in the order in which adjustments are applied.
 */
class PaidPeriods {
  readonly #credits: PeriodCredits;
  readonly #recurringOf: (charge: PeriodCharge) => readonly NamedCharge[];
  readonly #paidNow: PaidNow;
  readonly #shownNow = new Map<string, Decimal>();
  readonly #amountNow = new Map<string, Decimal>();

  constructor(
    credits: PeriodCredits,
    recurring: readonly NamedCharge[] = [],
    paidNow: PaidNow = nothingPaid,
  ) {
    this.#credits = credits;
    this.#recurringOf = recurringByDay(recurring);
    this.#paidNow = paidNow;
  }

  /** What grants have paid of the charge in earlier runs, and not got back. */
  before({ earlier }: PeriodCharge): Decimal {
    return paidOf(earlier, this.#credits);
  }

  /** What void charges have given back, and was spent before the void: it is on no invoice yet. */
  unshown(charge: PeriodCharge): Decimal {
    return shownOf(charge.earlier, this.#credits).minus(this.before(charge));
  }

  /**
   * What grants may have paid of the charge (spec/beyond.md R290, R388). Of a maximum it is below zero: what
   * they have paid beyond it of all that the period came to. Of a top-up it is what the period and the
   * top-up come to, less what they have paid of the period: a top-up that late usage lowers stays paid where
   * nobody paid the usage.
   */
  due(charge: PeriodCharge): Decimal {
    const { adjustment, spent, amount, earlier } = charge;
    const ofOthers = this.#ofOthers(charge);
    if (adjustment.kind === 'maximum') {
      const value = new Decimal(adjustment.value);
      return spent.lessThanOrEqualTo(value) ? ZERO : Decimal.min(value.minus(ofOthers), ZERO);
    }
    const left = Decimal.max(amountOf(earlier).plus(amount), ZERO);
    return Decimal.max(Decimal.max(spent, ZERO).plus(left).minus(ofOthers), ZERO);
  }

  /** Keeps what the run shows of the charge, for what comes after it. */
  show(charge: PeriodCharge, shown: Decimal): void {
    this.#shownNow.set(keyOfCharge(charge), shown);
    this.#amountNow.set(keyOfCharge(charge), charge.amount);
  }

  #ofOthers(charge: PeriodCharge): Decimal {
    const { paid, spent, countedBefore, countedNow } = charge;
    const own = sum([
      paid,
      ...this.#recurringOf(charge).map(this.#paidNow.ofRecurring),
      shownOf(countedBefore, this.#credits),
      ...countedNow.map((one) => this.#shownNow.get(keyOfCharge(one)) ?? ZERO),
    ]);
    // Whose usage a top-up of more charges has paid, nobody can say: of these what nobody else has paid.
    const unpaid = Decimal.max(spent.minus(own), ZERO);
    return own.plus(Decimal.min(this.#ofTopUpsWithin(charge), unpaid));
  }

  /** What grants have paid of top-ups within the period beyond what these come to: it is of usage. */
  #ofTopUpsWithin({ withinBefore }: PeriodCharge): Decimal {
    const periods = new Map<string, AdjustmentCharge[]>();
    for (const row of withinBefore) {
      const key = keyOfRow(row);
      periods.set(key, [...(periods.get(key) ?? []), row]);
    }
    return sum(
      [...periods].map(([key, rows]) => {
        const shown = shownOf(rows, this.#credits).plus(this.#shownNow.get(key) ?? ZERO);
        const amount = amountOf(rows).plus(this.#amountNow.get(key) ?? ZERO);
        return Decimal.max(shown.minus(Decimal.max(amount, ZERO)), ZERO);
      }),
    );
  }
}

const keyOfRow = ({ adjustmentId, accountId, periodStart }: AdjustmentCharge): string =>
  `${adjustmentId}/${accountId}/${periodStart}`;
const keyOfCharge = ({ adjustment: { id, accountId }, start }: PeriodCharge): string =>
  `${id}/${accountId}/${start}`;

/** The charges of items with these, shorter periods first. */
function byCharge(items: readonly PeriodItem[]): (readonly [PeriodCharge, PeriodItem[]])[] {
  const found = new Map<PeriodCharge, PeriodItem[]>();
  for (const item of items) {
    const own = found.get(item.charge);
    if (own) own.push(item);
    else found.set(item.charge, [item]);
  }
  return shorterFirst([...found], ([charge]) => charge);
}

/**
 * The items as grants may pay them: top-ups, where they have not paid them already; of what a maximum bills
 * again what it had given back to them, for the rest lowers what was billed (spec/beyond.md R290).
 */
export async function payableOfPeriods(
  items: readonly PeriodItem[],
  credits: PeriodCredits,
): Promise<UnpaidCharge[]> {
  const periods = new PaidPeriods(credits);
  const open = new Map<PeriodCharge, OwedBack>();
  await eachInPortions(byCharge(items), ([charge]) => {
    const { earlier, amount } = charge;
    const parts = negated(partsOfRows(earlier, credits)).filter((part) => part.amount.gt(ZERO));
    const more = periods.due(charge).minus(periods.before(charge));
    const most = Decimal.max(Decimal.min(more, amount), ZERO);
    open.set(charge, { parts, open: most });
    // As if all of it were paid; below zero it goes back.
    const now = more.isNegative() ? more : most;
    periods.show(charge, now.minus(periods.unshown(charge)));
  });
  return mapInPortions(items, ({ chargeId: id, charge, amount }) => {
    const { accountId, currency, serviceId, kind } = charge.adjustment;
    const payable = { id, accountId, currency, serviceId, usageType: 'Charge' };
    const owedBack = open.get(charge) ?? { parts: [], open: ZERO };
    if (kind === 'maximum') return { ...payable, amount, owedBack };
    const most = Decimal.min(amount, owedBack.open);
    owedBack.open = owedBack.open.minus(Decimal.max(most, ZERO));
    return { ...payable, amount: most };
  });
}

/** What has to go back of each item (spec/beyond.md R290, R388, R389). */
export async function findUncredited(
  items: readonly PeriodItem[],
  recurring: readonly NamedCharge[],
  credits: PeriodCredits,
  paidNow: PaidNow,
): Promise<Map<PeriodItem, Uncredited>> {
  const byItem = new Map<PeriodItem, Uncredited>();
  if (items.length === 0) return byItem;
  const periods = new PaidPeriods(credits, recurring, paidNow);
  await eachInPortions(byCharge(items), ([charge, own]) => {
    const now = sum(own.map(paidNow.ofItem));
    const before = periods.before(charge);
    const surplus = Decimal.max(before.plus(now).minus(periods.due(charge)), ZERO);
    // Of a top-up only what was paid before goes back: whom this run has made pay is not known here.
    const isMaximum = charge.adjustment.kind === 'maximum';
    const returned = isMaximum ? surplus : Decimal.min(surplus, Decimal.max(before, ZERO));
    const onInvoice = returned.plus(periods.unshown(charge));
    periods.show(charge, now.minus(onInvoice));
    if (onInvoice.isZero() && returned.isZero()) return;
    for (const [item, part] of byAmount(own, { onInvoice, returned })) byItem.set(item, part);
  });
  return byItem;
}

/** What goes back of a charge, by its items in proportion; the last has what remains. */
function byAmount(items: readonly PeriodItem[], whole: Uncredited): [PeriodItem, Uncredited][] {
  let left = whole;
  return items.map((item) => {
    const partOf = (amount: Decimal): Decimal => roundAmount(amount.times(item.share));
    const part =
      item === items.at(-1)
        ? left
        : { onInvoice: partOf(whole.onInvoice), returned: partOf(whole.returned) };
    left = {
      onInvoice: left.onInvoice.minus(part.onInvoice),
      returned: left.returned.minus(part.returned),
    };
    return [item, part];
  });
}
