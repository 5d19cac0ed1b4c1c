import { contentId } from '../kernel/id.js';
import { decimalText, ONE, parseDecimal, type Decimal } from '../kernel/numbers/money.js';
import { chooseDiscounts } from './stages/choose-discounts.js';
import { compilePlan, type CompiledPlan, type CompiledRow } from './compile-plan.js';
import { counterKey, counterOf } from './counter-key.js';
import { planFor } from './rating-plan.js';
import { orRejected, Rejection } from './rejection.js';
import { comparisonsOfOperation, eventOperationsMax, Spending } from './operation-budget.js';
import { resolveContext } from './resolve-context.js';
import type {
  ChargeType,
  CounterKey,
  PlanAttribute,
  RatingContext,
  RatingPlan,
  Rejected,
  UsageEvent,
  UsageOwner,
} from './types.js';

/** Where a quantity came from. */
export type QuantitySource = 'dimension' | 'message.quantity' | 'default' | 'formula';

export interface Quantity {
  readonly value: Decimal;
  readonly source: QuantitySource;
}

/** The row chosen for a priceable attribute, and what is needed to price it. */
export interface SelectedRow {
  readonly row: CompiledRow;
  readonly attributeName: string;
  readonly quantity: Quantity;
  readonly counter: {
    readonly key: CounterKey;
    readonly text: string;
    /** Of a UNIQUE counter: what names the value that the event has for it. */
    readonly valueId?: string;
  } | null;
}

/** What an event costs to rate, in operations. */
export interface RatingCost {
  readonly operationsMax: number;
  /** What it cost to choose its rows. */
  readonly preparing: number;
  /** With its price, once that was computed, whether or not it was within the greatest cost. */
  operations: number;
}

/** Rows are chosen (spec/rating.md R6 to R23): all that is missing for a price is the state of the counters. */
export interface Prepared {
  readonly ok: true;
  readonly event: UsageEvent;
  readonly owner: UsageOwner;
  /** Stored with the charge; see `prepareFromPlan`. */
  readonly plan: RatingPlan;
  /** Every counter that the price reads and moves; read and lock these, in the order of their text. */
  readonly counterKeys: readonly CounterKey[];
  readonly compiled: CompiledPlan;
  /** By attribute name, in the order of the plan's attributes. */
  readonly selected: ReadonlyMap<string, SelectedRow>;
  readonly cost: RatingCost;
}

/** What charges of a rated event are written from: not what it was sent with, which may have a mebibyte. */
export interface ChargedFacts extends Pick<Prepared, 'owner' | 'plan'> {
  readonly event: Pick<
    UsageEvent,
    'externalTransactionId' | 'serviceId' | 'serviceInstanceId' | 'timestamp' | 'date'
  >;
}

/** The same of an event that was rated, to be held while others are. */
export function chargedFacts({ event, owner, plan }: Prepared): ChargedFacts {
  const { externalTransactionId, serviceId, serviceInstanceId, timestamp, date } = event;
  const kept = { externalTransactionId, serviceId, serviceInstanceId, timestamp, date };
  return { event: kept, owner, plan };
}

/** Finds everything that prices an event, except the counters. Facts are never changed. */
export function prepare(
  event: UsageEvent,
  context: RatingContext,
  charge: ChargeType = 'Usage',
): Prepared | Rejected {
  const planned = choosePlan(event, context, charge);
  return planned.ok ? prepareFromPlan(planned.plan, event, planned.owner) : planned;
}

/** What prices an event, before anything of it is compiled, and who used it. */
export interface Planned {
  readonly ok: true;
  readonly plan: RatingPlan;
  readonly owner: UsageOwner;
}

/** The account, service, line and card of an event (spec/rating.md R6 to R17). */
export function choosePlan(
  event: UsageEvent,
  context: RatingContext,
  charge: ChargeType = 'Usage',
): Planned | Rejected {
  const resolved = resolveContext(event, context);
  if (!resolved.ok) return resolved;
  const { account, line } = resolved;
  const owner: UsageOwner = {
    accountId: account.id,
    line: line && {
      id: line.id,
      lineageId: line.lineageId,
      contractId: line.contractId,
      contractNumber: line.contractNumber,
      serviceInstanceId: line.serviceInstanceId,
    },
  };
  const { adjustments } = context;
  const discounts = adjustments
    ? chooseDiscounts(adjustments, {
        accountId: account.id,
        contractId: line?.contractId ?? null,
        lineageId: line?.lineageId ?? null,
        serviceId: resolved.service.id,
        currency: resolved.card.currency,
        date: event.date,
      })
    : [];
  return { ok: true, plan: planFor(resolved, charge, discounts), owner };
}

/** The same from what was kept of an earlier rating, when catalog and contract may have changed. */
export function prepareFromPlan(
  plan: RatingPlan,
  event: UsageEvent,
  owner: UsageOwner,
  spending = new Spending(eventOperationsMax),
): Prepared | Rejected {
  return orRejected(() => {
    const compiled = compilePlan(plan);
    checkDimensions(compiled, event);
    const selected = selectRows(compiled, event, owner, spending);
    // One row is chosen per attribute, so no two have the same counter.
    const counterKeys = [...selected.values()].flatMap(({ counter }) =>
      counter ? [counter.key] : [],
    );
    const { max: operationsMax, spent: preparing } = spending;
    const cost = { operationsMax, preparing, operations: preparing };
    return { ok: true, event, owner, plan, counterKeys, compiled, selected, cost };
  });
}

function checkDimensions(compiled: CompiledPlan, event: UsageEvent): void {
  const { attributes, cardNames } = compiled;
  for (const [name, text] of event.dimensions) {
    const attribute = attributes.get(name);
    if (!attribute && !cardNames.has(name)) {
      throw new Rejection('UNKNOWN_DIMENSION', unknownDimension(compiled, name));
    }
    if (attribute) checkDimension(attribute, text);
  }
}

const namesShown = 20;

/** What is wrong with a dimension, what is known, and what to do. */
function unknownDimension({ attributes, cardNames, plan }: CompiledPlan, name: string): string {
  const { card, currency, service } = plan;
  const known = [...new Set([...attributes.keys(), ...cardNames])];
  const shown = known.slice(0, namesShown).join(', ') + (known.length > namesShown ? ', …' : '');
  const source =
    card.source === 'exception'
      ? `the contract line's own rate card in ${currency} (the catalog's does not count where there is one)`
      : `the rate card in ${currency}`;
  return (
    `Dimension '${name}' is no attribute of service '${service.name}' or of the contract line, and ` +
    `no condition of ${source}. Known: ${shown}. Leave it out or correct its name, or add it as an ` +
    'input attribute of the service; then rate the event again.'
  );
}

/** A value in a message: enough of it to be found. */
const shownValue = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

function checkDimension({ name, kind, dataType }: PlanAttribute, text: string): void {
  if (dataType !== 'Number' && kind !== 'PRICEABLE') return;
  const number = parseDecimal(text);
  if (number === null) {
    if (dataType !== 'Number') return;
    throw new Rejection(
      'INVALID_DIMENSION',
      `Dimension '${name}' must be a decimal number of at most 38 digits, not '${shownValue(text)}'`,
    );
  }
  if (kind === 'PRICEABLE' && number.isNegative()) {
    throw new Rejection(
      'INVALID_DIMENSION',
      `Dimension '${name}' must not be negative: ${shownValue(text)}`,
    );
  }
}

function selectRows(
  compiled: CompiledPlan,
  event: UsageEvent,
  owner: UsageOwner,
  spending: Spending,
): ReadonlyMap<string, SelectedRow> {
  const selected = new Map<string, SelectedRow>();
  const values = new EventValues(event);
  for (const attributeName of pricedNames(compiled, event)) {
    const row = selectRow(compiled, attributeName, values, spending);
    const key = counterOf(row, compiled.plan, event, owner);
    selected.set(attributeName, {
      row,
      attributeName,
      quantity: quantityOf(attributeName, event),
      counter: key && counterWithValue(row, key, compiled, event),
    });
  }
  return selected;
}

/** A counter, and of a UNIQUE one the value that the event has for it. */
function counterWithValue(
  { meter }: CompiledRow,
  key: CounterKey,
  { attributes }: CompiledPlan,
  event: UsageEvent,
): SelectedRow['counter'] {
  const text = counterKey(key);
  if (meter === null || !('uniqueDimension' in meter)) return { key, text };
  const { uniqueDimension: name } = meter;
  const kept = event.counted?.get(key.attributeName);
  if (kept !== undefined) return { key, text, valueId: kept };
  const given = event.dimensions.get(name);
  if (given === undefined) {
    throw new Rejection(
      'INVALID_DIMENSION',
      `Dimension '${name}' is missing: '${key.attributeName}' counts its different values`,
    );
  }
  // 1.0 is 1, as in the conditions of rows.
  const number = attributes.get(name)?.dataType === 'Number' ? parseDecimal(given) : null;
  return { key, text, valueId: contentId(`${text}\n${number ? decimalText(number) : given}`) };
}

/** With pricing logic, what its formulas ask for; without, what the event gives (spec/rating.md R40, R41). */
function pricedNames(compiled: CompiledPlan, event: UsageEvent): readonly string[] {
  const { logics, priceables, onlyPriceable, rows, plan } = compiled;
  if (logics.length > 0) return logics.flatMap((logic) => logic.pricedNames);
  const names = priceables
    .filter((attribute) => rows.has(attribute.name))
    .filter((attribute) => attribute === onlyPriceable || event.dimensions.has(attribute.name))
    .map((attribute) => attribute.name);
  if (names.length === 0) {
    throw new Rejection(
      'NO_MATCHING_ROW',
      `Nothing to price: the event gives no priceable attribute of service ` +
        `'${plan.service.name}' that has a row on the ${plan.currency} rate card`,
    );
  }
  return names;
}

/** Of the rows whose attribute values all match, the one with most of them, then the first. */
function selectRow(
  compiled: CompiledPlan,
  attributeName: string,
  values: EventValues,
  spending: Spending,
): CompiledRow {
  let chosen: CompiledRow | null = null;
  const before = values.comparisons;
  for (const row of compiled.rows.get(attributeName) ?? []) {
    const isBetter = chosen === null || row.conditions.length > chosen.conditions.length;
    if (isBetter && values.match(row)) chosen = row;
  }
  spending.spend(Math.floor((values.comparisons - before) / comparisonsOfOperation));
  if (chosen === null) throw noMatchingRow(compiled, attributeName, values.event);
  if (chosen.price === null) {
    const { label, priceMethod } = chosen.facts;
    throw new Rejection(
      'NO_RATE_CARD',
      `Row '${label}' of the rate card cannot be used: its rates are not those of ${priceMethod}`,
    );
  }
  return chosen;
}

/** The attribute values of an event, each read as a number once, and how often they were compared. */
class EventValues {
  readonly event: UsageEvent;
  comparisons = 0;
  readonly #numbers = new Map<string, Decimal | null>();

  constructor(event: UsageEvent) {
    this.event = event;
  }

  /** Whether the event has all attribute values of a row. */
  match({ conditions }: CompiledRow): boolean {
    this.comparisons += 1;
    for (const { name, value, number } of conditions) {
      this.comparisons += 1;
      const text = this.event.dimensions.get(name);
      if (text === undefined) return false;
      if (text === value) continue;
      if (number === null || this.#numberOf(name, text)?.equals(number) !== true) return false;
    }
    return true;
  }

  #numberOf(name: string, text: string): Decimal | null {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = parseDecimal(text);
      this.#numbers.set(name, number);
    }
    return number;
  }
}

/** Of a rejected event, its reason names so many attribute values, and so much of each. */
const namedMax = 50;
const namedLengthMax = 300;

const shorten = (text: string): string =>
  text.length <= namedLengthMax ? text : `${text.slice(0, namedLengthMax - 3)}...`;

function noMatchingRow(
  { rows, plan, attributes }: CompiledPlan,
  attributeName: string,
  event: UsageEvent,
): Rejection {
  const ofAttribute = rows.get(attributeName) ?? [];
  const names = new Set(
    ofAttribute.flatMap(({ conditions }) => conditions.map(({ name }) => name)),
  );
  const given = [...event.dimensions]
    .filter(([name]) => names.has(name) || attributes.get(name)?.kind !== 'PRICEABLE')
    .slice(0, namedMax)
    .map(([name, value]) => shorten(`${name}=${value}`));
  const described = given.length > 0 ? given.join(', ') : 'an event without its attribute values';
  return new Rejection(
    'NO_MATCHING_ROW',
    ofAttribute.length === 0
      ? `The ${plan.currency} rate card of service '${plan.service.name}' has no row of '${attributeName}'`
      : `No rate-card row of '${attributeName}' matches ${described}`,
  );
}

/** The event's dimension of that name, else `message.quantity`, else 1 (spec/rating.md R20). */
function quantityOf(attributeName: string, event: UsageEvent): Quantity {
  const text = event.dimensions.get(attributeName);
  const value = text === undefined ? null : parseDecimal(text);
  if (value !== null) return { value, source: 'dimension' };
  if (event.quantity !== null) return { value: event.quantity, source: 'message.quantity' };
  return { value: ONE, source: 'default' };
}
