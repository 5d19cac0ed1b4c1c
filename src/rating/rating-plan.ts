import type { Resolved } from './resolve-context.js';
import type {
  AttributeFacts,
  CardFacts,
  ChargeType,
  LineFacts,
  PlanAttribute,
  PlanDiscount,
  RatingPlan,
  ServiceFacts,
} from './types.js';

type PlansByDifference = Map<string, RatingPlan>;

/**
 * Rows of the plans of one card together: each plan has its own compiled rows, and lines may differ in
 * their attributes as often as there are lines. The plan that was made first goes first.
 */
const rowsOfPlansMax = 100_000;
const plansMin = 4;

const plansByService = new WeakMap<ServiceFacts, WeakMap<CardFacts, PlansByDifference>>();
const differencesByService = new WeakMap<ServiceFacts, WeakMap<LineFacts, LineDifference>>();

const sharesByLine = new WeakMap<LineFacts, string>();

/** What a line's attributes change in those of its service; most lines change nothing. */
interface LineDifference {
  readonly key: string;
  readonly attributes: readonly PlanAttribute[];
}

/**
 * The plan for what was resolved: the same object for the same service, card and effective
 * attributes, so that thousands of lines with copied attributes share one plan, one compiled form
 * and one stored row.
 */
export function planFor(
  { service, line, card, cardSource }: Resolved,
  charge: ChargeType,
  discounts: readonly PlanDiscount[] = [],
): RatingPlan {
  const difference = line && line.attributes.length > 0 ? differenceOf(service, line) : null;
  const plans = getOrMake(
    getOrMake(plansByService, service, () => new WeakMap<CardFacts, PlansByDifference>()),
    card,
    (): PlansByDifference => new Map(),
  );
  const shares = line?.shares ?? [];
  const ofShares = line && shares.length > 0 ? textOfShares(line) : '';
  const ofDiscounts = discounts.length === 0 ? '' : `discounts${JSON.stringify(discounts)}`;
  const key = `${charge}${difference?.key ?? ''}${ofShares}${ofDiscounts}`;
  const plansMax = Math.max(plansMin, rowsOfPlansMax / (1 + card.rows.length));
  if (plans.size >= plansMax && !plans.has(key)) forgetFirst(plans);
  return getOrMake(plans, key, () => ({
    service: { id: service.id, name: service.name, code: service.code },
    charge,
    currency: card.currency,
    attributes: mergeAttributes(service, difference?.attributes ?? []),
    card: {
      id: card.id,
      source: cardSource,
      versionNo: card.versionNo,
      fromDate: card.fromDate,
      rows: card.rows,
    },
    logics: service.logics,
    ...(shares.length === 0 ? {} : { shares }),
    ...(discounts.length === 0 ? {} : { discounts }),
  }));
}

/** Made once for each line: a line may be shared by a thousand accounts, and every event asks. */
function textOfShares(line: LineFacts): string {
  return getOrMake(sharesByLine, line, () => JSON.stringify(line.shares));
}

function forgetFirst(plans: PlansByDifference): void {
  for (const key of plans.keys()) {
    plans.delete(key);
    return;
  }
}

function differenceOf(service: ServiceFacts, line: LineFacts): LineDifference {
  const byLine = getOrMake(
    differencesByService,
    service,
    () => new WeakMap<LineFacts, LineDifference>(),
  );
  return getOrMake(byLine, line, () => {
    const ofService = new Map(
      service.attributes.map((attribute) => [
        attribute.name,
        JSON.stringify(facts(attribute, true)),
      ]),
    );
    const attributes = line.attributes
      .map((attribute) => facts(attribute, ofService.has(attribute.name)))
      .filter((attribute) => ofService.get(attribute.name) !== JSON.stringify(attribute));
    return { key: attributes.length === 0 ? '' : JSON.stringify(attributes), attributes };
  });
}

function mergeAttributes(
  service: ServiceFacts,
  ofLine: readonly PlanAttribute[],
): readonly PlanAttribute[] {
  const byName = new Map<string, PlanAttribute>();
  for (const attribute of service.attributes) byName.set(attribute.name, facts(attribute, true));
  for (const attribute of ofLine) byName.set(attribute.name, attribute);
  return [...byName.values()];
}

/** Without the id, which differs between the copies of one attribute. */
function facts(attribute: AttributeFacts, isOfService: boolean): PlanAttribute {
  const { name, kind, dataType, isMeter, resetFrequency, aggregation = 'SUM' } = attribute;
  const { uniqueDimension } = attribute;
  const plain = { name, kind, dataType, isMeter, resetFrequency, isOfService };
  // Left out of sums, so that their plans are those that were stored before there were others.
  if (aggregation === 'SUM') return plain;
  return uniqueDimension ? { ...plain, aggregation, uniqueDimension } : { ...plain, aggregation };
}

interface Cache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

function getOrMake<Key, Value>(cache: Cache<Key, Value>, key: Key, make: () => Value): Value {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
