import { daysFrom } from '../../kernel/time/date.js';
import { seededId } from '../../kernel/id.js';
import { mapInPortions } from '../../kernel/portions.js';
import { Decimal, ZERO, type Decimal as DecimalType } from '../../kernel/numbers/money.js';
import { shareText, type Share } from '../../kernel/numbers/share.js';
import type { UsageGroup } from '../../models/billing/usage-items.js';
import type { ChargeNames } from '../../queries/billing/charge-names.js';
import { prorationFrom } from '../../rating/index.js';
import type { PaidCharges } from '../balances/pay-charges.js';
import type { DraftCharge } from './invoice-draft.js';
import type { RecurringCharged } from './recurring/recurring-charges.js';

/** Usage of one invoice as the charge that becomes its item. */
export function chargeOfUsage(group: UsageGroup, names: ChargeNames): DraftCharge {
  const { services, units } = names;
  const { rate, hasOther, contractId, label, dimensionName } = group;
  const service = services.get(group.serviceId);
  const unit = units.get(group.dimensionId ?? '') ?? dimensionName;
  const share = shareOfUsage(group);
  const description = label ?? unit ?? service?.label ?? service?.name ?? 'Usage';
  return {
    ...group,
    isOfOneContract: contractId !== null && !hasOther,
    description: withCorrected(withShare(description, share), group, names),
    share,
    volume: new Decimal(group.volume),
    unit,
    proration: null,
    tiers: group.tiers ?? [],
    rate: rate === null ? averageRate(group) : new Decimal(rate),
    amount: new Decimal(group.amount),
    discounted: new Decimal(group.discounted),
    credited: new Decimal(group.credited),
    chargeType: 'Usage',
  };
}

/** Says of a difference which invoice it corrects. */
function withCorrected(
  description: string,
  { correctedInvoiceId }: UsageGroup,
  { invoices }: ChargeNames,
): string {
  if (correctedInvoiceId === null) return description;
  return `${description} (correction of ${invoices.get(correctedInvoiceId) ?? 'an invoice'})`;
}

/** Which part of the usage of a line the account bears; null where it bears all. */
function shareOfUsage({ shareFrom, shareTo, shareOf, sharedAmount }: UsageGroup) {
  if (shareFrom === null || shareTo === null || shareOf === null) return null;
  return {
    from: new Decimal(shareFrom),
    to: new Decimal(shareTo),
    of: new Decimal(shareOf),
    amount: new Decimal(sharedAmount ?? 0),
  };
}

/** Adds to the description that the account bears a part of a shared charge. */
const withShare = (description: string, share: Share | null): string =>
  share === null ? description : `${description} (share ${shareText(share)})`;

/**
 * The average price of a unit of tiered usage; null without volume, and where pricing logic made
 * the amount, or it is a difference of prices.
 */
function averageRate(group: UsageGroup): DecimalType | null {
  const { dimensionId, volume, amount, correctedInvoiceId } = group;
  const units = new Decimal(volume);
  if (dimensionId === null || correctedInvoiceId !== null || units.isZero()) return null;
  return new Decimal(amount).div(units).toDecimalPlaces(10);
}

/** The ids that a run gives what it makes of a recurring charge. */
interface ChargeIds {
  readonly invoiceId: string;
  readonly itemId: string;
  readonly chargeId: string;
}

const idsOf = ({ line, part, type, due, position }: RecurringCharged, seed: string): ChargeIds => {
  const invoiceId = seededId(seed, `${part.billedAccountId}${part.currency}${part.usageType}`);
  const key = [line.id, type, due.period.first, position].join('/');
  const itemId = seededId(invoiceId, key);
  return { invoiceId, itemId, chargeId: seededId(itemId, 'charge') };
};

/** A recurring charge with the ids that a run gives what it makes of it. */
export type NamedCharge = RecurringCharged & { readonly ids: ChargeIds };

/** Recurring charges with their ids, in portions: three digests each. */
export const nameCharges = (
  charges: readonly RecurringCharged[],
  seed: string,
): Promise<NamedCharge[]> =>
  mapInPortions(charges, (charge) => ({ ...charge, ids: idsOf(charge, seed) }));

export function chargeOfLine(
  charge: NamedCharge,
  names: ChargeNames,
  paid: PaidCharges,
): DraftCharge {
  const { line, service, part, type } = charge;
  const { invoiceId, itemId, chargeId } = charge.ids;
  return {
    invoiceId,
    itemId,
    credited: paid.get(chargeId) ?? ZERO,
    accountId: part.billedAccountId,
    currency: part.currency,
    usageType: part.usageType,
    serviceId: service.id,
    contractId: line.contractId,
    isOfOneContract: true,
    contractServiceId: line.id,
    dimensionId: part.row?.attributeId ?? null,
    // No `share`: the amount is this account's part already, in minor units.
    description: descriptionOf(charge, names),
    share: null,
    volume: part.volume,
    rate: part.rate,
    amount: part.amount.plus(part.discount),
    discounted: part.discount,
    tiers: part.tiers,
    unit: names.units.get(part.row?.attributeId ?? '') ?? null,
    proration: daysOfPart(charge),
    taxCode: names.rows.get(part.taxRowId ?? '')?.taxCode ?? null,
    chargeType: type,
    priceMethod: part.row?.method ?? null,
    firstDate: part.days.first,
    lastDate: part.days.last,
    transactions: 0,
    correctedInvoiceId: null,
  };
}

const daysOfPart = ({ part: { isProrated, days }, due: { period } }: RecurringCharged) =>
  isProrated
    ? prorationFrom(daysFrom(days.first, days.last), daysFrom(period.first, period.last))
    : null;

export const descriptionOf = ({ service, part }: RecurringCharged, { rows }: ChargeNames): string =>
  withShare(rows.get(part.row?.id ?? '')?.label ?? service.label ?? service.name, part.share);
