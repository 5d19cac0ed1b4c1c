import { Decimal, decimalText, ONE, parseDecimal } from '../../../kernel/numbers/money.js';
import type { PeriodAdjustment } from '../../billing/adjustments/period-adjustment.js';
import { chooseDiscounts, withDiscounts } from '../../../rating/index.js';
import type {
  CardFacts,
  DiscountFacts,
  LineFacts,
  LogicFacts,
  PlanAttribute,
  RatingContext,
  RatingPlan,
  ServiceFacts,
  UsageEvent,
  UsageOwner,
} from '../../../rating/index.js';

/** A change as rating knows it: JSON-safe, references resolved, decimals as text. */
export type ChangedFact =
  | { readonly kind: 'rateCard'; readonly serviceId: string; readonly card: CardFacts }
  | {
      readonly kind: 'exceptionCard';
      /** The service of the line. */
      readonly serviceId: string;
      readonly contractServiceId: string;
      readonly card: CardFacts;
    }
  | { readonly kind: 'pricingLogic'; readonly serviceId: string; readonly logic: LogicFacts }
  | {
      readonly kind: 'usage';
      readonly factor: string;
      readonly serviceId: string | null;
      readonly attribute: string | null;
    }
  | {
      readonly kind: 'adjustment';
      readonly serviceId: string | null;
      /** The account whose charges it is of. */
      readonly accountId: string;
      readonly discount: DiscountFacts;
    }
  | {
      /** A minimum, maximum or commitment: of what periods come to, not of charges. */
      readonly kind: 'periodAdjustment';
      readonly serviceId: string | null;
      readonly adjustment: TriedAdjustment;
    };

/** A minimum, maximum or commitment that is tried, up to the end of its contract or line. */
export type TriedAdjustment = Omit<PeriodAdjustment, 'billedUntil' | 'settled'>;

/** The minimums, maximums and commitments among changes. */
export const triedAdjustments = (changes: readonly ChangedFact[]): TriedAdjustment[] =>
  changes.flatMap((change) => (change.kind === 'periodAdjustment' ? [change.adjustment] : []));

/** A card in place of all versions of its currency. */
const withCard = (cards: readonly CardFacts[], card: CardFacts): readonly CardFacts[] => [
  ...cards.filter(({ currency }) => currency !== card.currency),
  card,
];

/** A logic in place of the one of its name, else as the last one. */
function withLogic(logics: readonly LogicFacts[], logic: LogicFacts): readonly LogicFacts[] {
  const known = logics.find(({ name }) => name === logic.name);
  if (!known) {
    const last = Math.max(0, ...logics.map(({ seqNo }) => seqNo));
    return [...logics, { ...logic, seqNo: last + 1 }];
  }
  const { id, seqNo } = known;
  return logics.map((each) => (each === known ? { ...logic, id, seqNo } : each));
}

/**
 * What is in force with changes laid over it. Changed facts are made once for each record as it is
 * loaded, because rating remembers plans by the identity of facts.
 */
export class ChangedFacts {
  readonly #changes: readonly ChangedFact[];
  readonly #discounts: readonly DiscountFacts[];
  readonly #plans = new WeakMap<RatingPlan, Map<string, RatingPlan>>();
  readonly #services = new WeakMap<ServiceFacts, ServiceFacts>();
  readonly #lines = new WeakMap<readonly LineFacts[], readonly LineFacts[]>();

  constructor(changes: readonly ChangedFact[]) {
    this.#changes = changes.filter(({ kind }) => kind !== 'periodAdjustment');
    this.#discounts = changes.flatMap((change) =>
      change.kind === 'adjustment' ? [change.discount] : [],
    );
  }

  /** Whether a change is of what an event of this account and service is rated with. */
  concern(accountId: string, serviceId: string | null): boolean {
    return this.#changes.some(
      (change) =>
        (change.serviceId === null || change.serviceId === serviceId) &&
        (change.kind !== 'adjustment' || change.accountId === accountId),
    );
  }

  /** Whether a card or a logic is changed, so that what is in force has to be read. */
  get areOfPrices(): boolean {
    return this.#changes.some(({ kind }) => kind !== 'usage' && kind !== 'adjustment');
  }

  /** The same context where no change is of it. */
  contextOf(context: RatingContext): RatingContext {
    const { service, lines } = context;
    const changed = service && this.#serviceOf(service);
    const ofLines = this.#linesOf(lines);
    if (changed === service && ofLines === lines) return context;
    return { ...context, service: changed, lines: ofLines };
  }

  /**
   * A plan with the discounts that are tried; the same one where none is of the charge. One object for
   * the same plan and discounts, because rating remembers what it compiled by the identity of plans.
   */
  planOf(plan: RatingPlan, { accountId, line }: UsageOwner, { date }: UsageEvent): RatingPlan {
    if (this.#discounts.length === 0) return plan;
    const chosen = chooseDiscounts(this.#discounts, {
      accountId,
      contractId: line?.contractId ?? null,
      lineageId: line?.lineageId ?? null,
      serviceId: plan.service.id,
      currency: plan.currency,
      date,
    });
    if (chosen.length === 0) return plan;
    const known = this.#plans.get(plan) ?? new Map<string, RatingPlan>();
    this.#plans.set(plan, known);
    const key = chosen.map(({ id }) => id).join();
    const changed = known.get(key) ?? {
      ...plan,
      discounts: withDiscounts(plan.discounts ?? [], chosen),
    };
    known.set(key, changed);
    return changed;
  }

  #serviceOf(service: ServiceFacts): ServiceFacts {
    let changed = this.#services.get(service);
    if (changed !== undefined) return changed;
    changed = service;
    for (const change of this.#changes) {
      if (change.serviceId !== service.id) continue;
      if (change.kind === 'rateCard') {
        changed = { ...changed, cards: withCard(changed.cards, change.card) };
      } else if (change.kind === 'pricingLogic') {
        changed = { ...changed, logics: withLogic(changed.logics, change.logic) };
      }
    }
    this.#services.set(service, changed);
    return changed;
  }

  #linesOf(lines: readonly LineFacts[]): readonly LineFacts[] {
    let changed = this.#lines.get(lines);
    if (changed !== undefined) return changed;
    changed = lines;
    for (const change of this.#changes) {
      if (change.kind !== 'exceptionCard') continue;
      const { contractServiceId: id, card } = change;
      if (!changed.some((line) => line.id === id)) continue;
      changed = changed.map((line) =>
        line.id === id ? { ...line, cards: withCard(line.cards, card) } : line,
      );
    }
    this.#lines.set(lines, changed);
    return changed;
  }

  /** The event with the volumes that it would have; the same one where no change is of it. */
  eventOf(event: UsageEvent, plan: RatingPlan): UsageEvent {
    let changed = event;
    for (const change of this.#changes) {
      if (change.kind !== 'usage') continue;
      if (change.serviceId !== null && change.serviceId !== event.serviceId) continue;
      changed = multiply(changed, plan, new Decimal(change.factor), change.attribute);
    }
    return changed;
  }
}

const multiplied = (text: string | undefined, factor: Decimal): string | undefined => {
  const value = text === undefined ? null : parseDecimal(text);
  return value === null ? text : decimalText(value.times(factor));
};

const isPriceable = ({ kind }: PlanAttribute): boolean => kind === 'PRICEABLE';

/**
 * An event whose quantities are multiplied: of one dimension, or of all that are priced. What has no
 * dimension of its own is priced by `message.quantity`, else as 1.
 */
function multiply(
  event: UsageEvent,
  plan: RatingPlan,
  factor: Decimal,
  attribute: string | null,
): UsageEvent {
  if (factor.equals(ONE)) return event;
  const names = plan.attributes.filter(isPriceable).map(({ name }) => name);
  const meant = attribute === null ? names : [attribute];
  const dimensions = new Map(event.dimensions);
  for (const name of meant) {
    const text = multiplied(dimensions.get(name), factor);
    if (text !== undefined) dimensions.set(name, text);
  }
  const isByQuantity =
    meant.some((name) => !event.dimensions.has(name)) &&
    (attribute === null || (names.length === 1 && names[0] === attribute));
  const quantity = isByQuantity ? (event.quantity ?? ONE).times(factor) : event.quantity;
  return { ...event, dimensions, quantity };
}
