import type { Days } from '../../kernel/time/billing-calendar.js';
import { dayBefore } from '../../kernel/time/date.js';
import type { ChargedTier } from '../../kernel/numbers/charged-tier.js';
import { Decimal, decimalText, ONE, ZERO } from '../../kernel/numbers/money.js';
import { referenceData } from '../../kernel/reference-data.js';
import { exactPartOf, partOf, type Share } from '../../kernel/numbers/share.js';
import { discounted } from '../stages/adjust.js';
import type { Pricing } from '../stages/price.js';
import { discountsOfPeriod } from '../stages/choose-discounts.js';
import { compilePlan, type CompiledPlan } from '../compile-plan.js';
import { prepareFromPlan } from '../prepare-event.js';
import { rateWithOrigin } from '../pipeline.js';
import type { TransactionWithOrigin } from '../stages/total.js';
import { planFor } from '../rating-plan.js';
import { orRejected, rejected } from '../rejection.js';
import { chooseVersion } from '../choose-version.js';
import type {
  AccountFacts,
  AttributeFacts,
  CardFacts,
  ChargeType,
  DiscountFacts,
  LineFacts,
  LogicFacts,
  RatingPlan,
  Rejected,
  ServiceFacts,
  UsageEvent,
  UsageType,
} from '../types.js';
import { proratePeriod } from './proration.js';

/** What a billing run asks for; usage comes as events. */
export type RecurringType = Exclude<ChargeType, 'Usage'>;

/** An attribute with what counts for recurring charges. */
export interface RecurringAttribute extends AttributeFacts {
  readonly isProration: boolean | null;
  /** The value on a line; null where it has none. */
  readonly value: string | null;
}

export interface RecurringService extends ServiceFacts {
  readonly serviceType: string;
  readonly attributes: readonly RecurringAttribute[];
}

export interface RecurringLine extends LineFacts {
  /** Discounts of its account, its contract and itself, of whatever days. */
  readonly adjustments?: readonly DiscountFacts[] | null;
  readonly attributes: readonly RecurringAttribute[];
}

/** What is charged for one period of a line. */
export interface RecurringRequest {
  readonly type: RecurringType;
  readonly account: AccountFacts;
  readonly service: RecurringService;
  readonly line: RecurringLine;
  readonly period: Days;
  /** The days of the period that are charged. */
  readonly billed: Days;
  /** Whether a part of the period costs only its days, whatever the attributes say. */
  readonly isPart: boolean;
}

/** One price of a line for some days: of a row of its card, or of a pricing logic. */
export interface RecurringPart {
  readonly usageType: UsageType;
  readonly billedAccountId: string;
  readonly currency: string;
  /** Name of the attribute or the logic. */
  readonly name: string;
  readonly row: {
    readonly id: string;
    readonly attributeId: string;
    readonly method: string;
  } | null;
  /** The row whose tax code counts. */
  readonly taxRowId: string | null;
  readonly volume: Decimal;
  readonly rate: Decimal | null;
  /** What each tier charges for the whole period. */
  readonly tiers: readonly ChargedTier[];
  /** At 10 places, after discount; an invoice item rounds it once. */
  readonly amount: Decimal;
  /** What discounts took off. */
  readonly discount: Decimal;
  readonly days: Days;
  readonly isProrated: boolean;
  /** Which part of it the account bears, where several do; its amount is in minor units then. */
  readonly share: Share | null;
  readonly plan: RatingPlan;
  readonly dimensions: Readonly<Record<string, string>>;
}

export type RecurringResult = { readonly ok: true; readonly parts: RecurringPart[] } | Rejected;

/** The logics that price such a charge; null when the service is not charged so. */
function logicsFor(service: RecurringService, type: RecurringType): LogicFacts[] | null {
  const isOfType = service.serviceType === type;
  const logics = service.logics.filter(({ chargeType }) => {
    if (chargeType === type) return true;
    // Logic for all charges is not meant for what is paid once.
    if (chargeType === 'All') return type === 'Subscription';
    return chargeType === null && isOfType;
  });
  if (logics.length === 0 && !isOfType) return null;
  return logics.map((logic) => ({ ...logic, chargeType: type }));
}

/** Plans are remembered by the service's object, so each type has one for it. */
const services = new WeakMap<RecurringService, Map<RecurringType, RecurringService | null>>();

/** The service with the logics of such a charge alone; null when it is not charged so. */
function serviceFor(service: RecurringService, type: RecurringType): RecurringService | null {
  const known = services.get(service) ?? new Map<RecurringType, RecurringService | null>();
  services.set(service, known);
  let made = known.get(type);
  if (made === undefined) {
    const logics = logicsFor(service, type);
    made = logics && { ...service, logics };
    known.set(type, made);
  }
  return made;
}

/** Whether lines of a service have such charges. */
export const hasRecurring = (service: RecurringService, type: RecurringType): boolean =>
  serviceFor(service, type) !== null;

/** The price of a line for some days of a charge period (docs/decisions/0101). Pure. */
export function priceRecurring(request: RecurringRequest): RecurringResult {
  const { account, line, billed } = request;
  const service = serviceFor(request.service, request.type);
  if (!service) return { ok: true, parts: [] };
  if (!service.isActive) {
    return rejected('SERVICE_INACTIVE', `Service '${service.name}' is not active`);
  }
  if (!account.isActive) return rejected('ACCOUNT_INACTIVE', 'The account is not active');
  const currency = line.contractCurrency ?? account.defaultCurrency ?? service.currency;
  if (currency === null) {
    return rejected('NO_RATE_CARD', 'Neither contract, account nor service has a currency');
  }
  const exceptions = line.cards.filter((card) => card.currency === currency);
  const cards = exceptions.length > 0 ? line.cards : service.cards;
  const cardSource = exceptions.length > 0 ? 'exception' : 'catalog';
  const parts: RecurringPart[] = [];
  for (const { card, days } of versionsIn(cards, currency, billed)) {
    const resolved = { ok: true, account, service, line, card, cardSource } as const;
    const plan = planFor(resolved, request.type, discountsOfPeriod(request, currency));
    const priced = orRejected(() => priceDays(request, plan, days));
    if ('ok' in priced) return priced;
    parts.push(...priced);
  }
  if (parts.length === 0) {
    return rejected('NO_RATE_CARD', `Service '${service.name}' has no rate card in ${currency}`);
  }
  return { ok: true, parts };
}

/** The card versions that are in force during some days, each with its own days. */
function versionsIn(
  cards: readonly CardFacts[],
  currency: string,
  { first, last }: Days,
): { readonly card: CardFacts; readonly days: Days }[] {
  const changes = cards
    .filter((card) => card.currency === currency && card.fromDate > first && card.fromDate <= last)
    .map(({ fromDate }) => fromDate);
  const starts = [first, ...new Set(changes.sort())];
  const found: { card: CardFacts; days: Days }[] = [];
  starts.forEach((start, index) => {
    const next = starts[index + 1];
    const end = next === undefined ? last : dayBefore(next);
    const card = chooseVersion(cards, currency, start);
    if (!card) return;
    const before = found.at(-1);
    if (before?.card === card) before.days = { first: before.days.first, last: end };
    else found.push({ card, days: { first: start, last: end } });
  });
  return found;
}

function priceDays(
  request: RecurringRequest,
  plan: RatingPlan,
  days: Days,
): RecurringPart[] | Rejected {
  const compiled = compilePlan(plan);
  const { line, account, billed } = request;
  const dimensions = dimensionsOf(request, compiled);
  const event = recurringEvent(plan.service.id, days.first, dimensions);
  const { id, lineageId, contractId, contractNumber, serviceInstanceId } = line;
  const prepared = prepareFromPlan(plan, event, {
    accountId: account.id,
    line: { id, lineageId, contractId, contractNumber, serviceInstanceId },
  });
  if (!prepared.ok) return prepared;
  // A recurring charge begins at zero and moves no counter: meters are of usage.
  const { origins } = rateWithOrigin(prepared, new Map());
  const proration = proratePeriod(request);
  return origins
    .flatMap((origin) => partsOf(origin))
    .filter(({ names }) => days.first === billed.first || proration.isFor(names))
    .map(({ names, price, isDiscounted, ...part }) => {
      const charged = { ...proration.of(names, price, days), discount: ZERO };
      if (isDiscounted && plan.discounts) {
        Object.assign(charged, discounted(charged.amount, charged.amount, plan.discounts));
      }
      const own = part.share === null ? {} : shareOf(part, charged, plan.currency, part.share);
      return {
        ...part,
        currency: plan.currency,
        ...charged,
        ...own,
        plan,
        dimensions: Object.fromEntries(dimensions),
      };
    });
}

/**
 * What one account bears. The amount is divided in minor units, as the item of each is rounded by
 * itself: together they are the rounded whole.
 */
function shareOf(
  { volume, tiers }: Pick<RecurringPart, 'volume' | 'tiers'>,
  whole: Pick<RecurringPart, 'amount' | 'discount'>,
  currency: string,
  share: Share,
): Pick<RecurringPart, 'volume' | 'tiers' | 'amount' | 'discount'> {
  const digits = referenceData.currency(currency)?.minorDigits ?? 2;
  const amount = partOf(whole.amount, share, digits);
  const price = partOf(whole.amount.plus(whole.discount), share, digits);
  const part = (text: string): string => decimalText(exactPartOf(new Decimal(text), share));
  return {
    volume: exactPartOf(volume, share),
    tiers: tiers.map((tier) => ({
      ...tier,
      volume: part(tier.volume),
      amount: part(tier.amount),
    })),
    amount,
    discount: price.minus(amount),
  };
}

/** An event that says what a line has, for the engine that prices usage. */
export function recurringEvent(
  serviceId: string,
  date: string,
  dimensions: ReadonlyMap<string, string>,
): UsageEvent {
  return {
    externalTransactionId: '',
    accountRef: '',
    serviceId,
    date,
    dimensions,
    timestamp: `${date}T00:00:00.000Z`,
    quantity: null,
    serviceInstanceId: null,
    priceUnitLabel: null,
  };
}

/** What the line's attributes are set to; without logic also 1 of what has a price and no value. */
function dimensionsOf(
  { line }: RecurringRequest,
  { logics, priceables, rows, attributes }: CompiledPlan,
): Map<string, string> {
  const values = new Map<string, string>();
  for (const { name, value } of line.attributes) {
    if (value !== null && attributes.has(name)) values.set(name, value);
  }
  if (logics.length > 0) return values;
  const given = new Map(values);
  for (const { name } of priceables) {
    const isPriced = rows
      .get(name)
      ?.some(({ conditions }) => conditions.every(({ name, value }) => given.get(name) === value));
    if (isPriced === true && !given.has(name)) values.set(name, '1');
  }
  return values;
}

interface UnproratedPart extends Pick<
  RecurringPart,
  | 'usageType'
  | 'billedAccountId'
  | 'name'
  | 'row'
  | 'taxRowId'
  | 'volume'
  | 'rate'
  | 'tiers'
  | 'share'
> {
  /** The attributes that it prices. */
  readonly names: readonly string[];
  readonly isDiscounted: boolean;
  /** Exact, of the whole period and for all who share it. */
  readonly price: Decimal;
}

function partsOf(origin: TransactionWithOrigin): UnproratedPart[] {
  const { transaction, pricings, runs } = origin;
  const isDiscounted = origin.discounts.length > 0;
  const { usageType, billedAccountId, share = null } = transaction;
  if (runs.length > 0) {
    return runs.map(({ logic, output, pricings: own }) => {
      const [only, ...others] = own;
      return {
        usageType,
        billedAccountId,
        share,
        isDiscounted,
        name: logic.facts.name,
        row: null,
        names: logic.pricedNames,
        taxRowId: own[0]?.row.facts.id ?? null,
        volume: only && others.length === 0 ? only.quantity.value : ONE,
        rate: null,
        tiers: [],
        price: output,
      };
    });
  }
  return transaction.dimensions.map((dimension, index) => ({
    usageType,
    billedAccountId,
    share,
    isDiscounted,
    name: dimension.attributeName,
    names: [dimension.attributeName],
    row: { id: dimension.rowId, attributeId: dimension.attributeId, method: dimension.priceMethod },
    taxRowId: dimension.rowId,
    volume: dimension.whole?.volume ?? dimension.volume,
    rate: dimension.rate,
    tiers: tiersOf(pricings[index]),
    price: pricings[index]?.price.amount ?? ZERO,
  }));
}

function tiersOf(pricing: Pricing | undefined): ChargedTier[] {
  const { tiers = [] } = pricing?.price ?? {};
  const rates = pricing?.row.facts.rates as StoredTiers | undefined;
  const ends = new Map(
    rates?.rateCardTiers?.map((tier) => [tier.tierNum, tier.tierMaxVal ?? null]),
  );
  return tiers.map(({ tierNum, from, volume, unitRate, isFlat, amount }) => ({
    tierNum,
    isFlat,
    from: decimalText(from),
    to: ends.get(tierNum) ?? null,
    volume: decimalText(volume),
    unitRate: decimalText(unitRate),
    amount: decimalText(amount),
  }));
}

/** Where the tiers of a row end, as its rates are stored. */
interface StoredTiers {
  readonly rateCardTiers?: readonly {
    readonly tierNum: number;
    readonly tierMaxVal?: string | null;
  }[];
}
