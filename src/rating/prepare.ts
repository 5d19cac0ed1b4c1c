import { ONE, parseDecimal, ZERO, type Decimal } from '../kernel/money.js';
import { compilePlan, type CompiledPlan, type CompiledRow } from './compile-plan.js';
import { counterKey, counterOf } from './counter-key.js';
import { planFor } from './rating-plan.js';
import { orRejected, Rejection } from './rejection.js';
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
  readonly counter: { readonly key: CounterKey; readonly text: string } | null;
}

/** Points 1 to 8 done: all that is missing for a price is the state of the counters. */
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
}

/** Finds everything that prices an event, except the counters. Facts are never changed. */
export function prepare(
  event: UsageEvent,
  context: RatingContext,
  charge: ChargeType = 'Usage',
): Prepared | Rejected {
  const resolved = resolveContext(event, context);
  if (!resolved.ok) return resolved;
  const { account, line } = resolved;
  return prepareFromPlan(planFor(resolved, charge), event, {
    accountId: account.id,
    line: line && {
      id: line.id,
      lineageId: line.lineageId,
      contractId: line.contractId,
      contractNumber: line.contractNumber,
      serviceInstanceId: line.serviceInstanceId,
    },
  });
}

/** The same from what was kept of an earlier rating, when catalog and contract may have changed. */
export function prepareFromPlan(
  plan: RatingPlan,
  event: UsageEvent,
  owner: UsageOwner,
): Prepared | Rejected {
  return orRejected(() => {
    const compiled = compilePlan(plan);
    checkDimensions(compiled, event);
    const selected = selectRows(compiled, event, owner);
    // One row is chosen per attribute, so no two have the same counter.
    const counterKeys = [...selected.values()].flatMap(({ counter }) =>
      counter ? [counter.key] : [],
    );
    return { ok: true, event, owner, plan, counterKeys, compiled, selected };
  });
}

function checkDimensions({ attributes, cardNames, plan }: CompiledPlan, event: UsageEvent): void {
  for (const [name, text] of event.dimensions) {
    const attribute = attributes.get(name);
    if (!attribute && !cardNames.has(name)) {
      throw new Rejection(
        'UNKNOWN_DIMENSION',
        `Dimension '${name}' is no attribute of service '${plan.service.name}' or of the contract ` +
          'line, and the rate card does not use it',
      );
    }
    if (attribute) checkDimension(attribute, text);
  }
}

function checkDimension({ name, kind, dataType }: PlanAttribute, text: string): void {
  if (dataType !== 'Number' && kind !== 'PRICEABLE') return;
  const number = parseDecimal(text);
  if (number === null) {
    if (dataType !== 'Number') return;
    throw new Rejection(
      'INVALID_DIMENSION',
      `Dimension '${name}' must be a decimal number of at most 38 digits`,
    );
  }
  if (kind === 'PRICEABLE' && number.lessThan(ZERO)) {
    throw new Rejection('INVALID_DIMENSION', `Dimension '${name}' must not be negative`);
  }
}

function selectRows(
  compiled: CompiledPlan,
  event: UsageEvent,
  owner: UsageOwner,
): ReadonlyMap<string, SelectedRow> {
  const selected = new Map<string, SelectedRow>();
  for (const attributeName of pricedNames(compiled, event)) {
    const row = selectRow(compiled, attributeName, event);
    const key = counterOf(row, compiled.plan, event, owner);
    selected.set(attributeName, {
      row,
      attributeName,
      quantity: quantityOf(attributeName, event),
      counter: key && { key, text: counterKey(key) },
    });
  }
  return selected;
}

/** With pricing logic, what its formulas ask for; without, what the event gives (point 11). */
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
function selectRow(compiled: CompiledPlan, attributeName: string, event: UsageEvent): CompiledRow {
  let chosen: CompiledRow | null = null;
  for (const row of compiled.rows.get(attributeName) ?? []) {
    const isBetter = chosen === null || row.conditions.length > chosen.conditions.length;
    if (isBetter && matches(row, event)) chosen = row;
  }
  if (chosen === null) throw noMatchingRow(compiled, attributeName, event);
  if (chosen.price === null) {
    const { label, priceMethod } = chosen.facts;
    throw new Rejection(
      'NO_RATE_CARD',
      `Row '${label}' of the rate card cannot be used: its rates are not those of ${priceMethod}`,
    );
  }
  return chosen;
}

function matches(row: CompiledRow, event: UsageEvent): boolean {
  return row.conditions.every(({ name, value, number }) => {
    const text = event.dimensions.get(name);
    if (text === undefined) return false;
    return text === value || (number !== null && (parseDecimal(text)?.equals(number) ?? false));
  });
}

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
    .map(([name, value]) => `${name}=${value}`);
  const described = given.length > 0 ? given.join(', ') : 'an event without its attribute values';
  return new Rejection(
    'NO_MATCHING_ROW',
    ofAttribute.length === 0
      ? `The ${plan.currency} rate card of service '${plan.service.name}' has no row of '${attributeName}'`
      : `No rate-card row of '${attributeName}' matches ${described}`,
  );
}

/** The event's dimension of that name, else `message.quantity`, else 1 (point 7). */
function quantityOf(attributeName: string, event: UsageEvent): Quantity {
  const text = event.dimensions.get(attributeName);
  const value = text === undefined ? null : parseDecimal(text);
  if (value !== null) return { value, source: 'dimension' };
  if (event.quantity !== null) return { value: event.quantity, source: 'message.quantity' };
  return { value: ONE, source: 'default' };
}
