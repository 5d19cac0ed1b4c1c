/** Short ways to say what is on a catalog, a contract and a rate card; every test names only what it is about. */
import { assert } from 'chai';
import { Decimal, decimalText } from '../../../src/kernel/numbers/money.js';
import {
  counterKey,
  explain,
  prepare,
  prepareFromPlan,
  ratePrepared,
  readUsageEvent,
} from '../../../src/rating/index.js';
import type {
  AccountFacts,
  AttributeFacts,
  AttributeKind,
  CardFacts,
  CounterReader,
  LineFacts,
  LogicFacts,
  Rated,
  RatingContext,
  Rejected,
  RowFacts,
  ServiceFacts,
  UsageEvent,
} from '../../../src/rating/types.js';

export const serviceId = '11111111-1111-4111-8111-111111111111';

export function anEvent(message: Record<string, unknown> = {}): UsageEvent {
  const read = readUsageEvent({
    externalTransactionId: 'tx-1',
    serviceId,
    eventTimestamp: '2024-03-15T12:00:00Z',
    billingAccountRef: 'acme',
    dimensions: { api_calls: '100' },
    ...message,
  });
  if (!read.ok) throw new Error(read.message);
  return read.event;
}

export function anAttribute(
  name: string,
  kind: AttributeKind = 'PRICEABLE',
  more: Partial<AttributeFacts> = {},
): AttributeFacts {
  const dataType = kind === 'PRICEABLE' ? 'Number' : 'String';
  return { id: `a-${name}`, name, kind, dataType, isMeter: false, resetFrequency: null, ...more };
}

export function aMeter(name: string, resetFrequency: string | null = 'Monthly'): AttributeFacts {
  return anAttribute(name, 'PRICEABLE', { isMeter: true, resetFrequency });
}

export function aRow(
  attributeName: string,
  priceMethod: string,
  rates: unknown,
  more: Partial<RowFacts> & { when?: Record<string, string> } = {},
): RowFacts {
  const { when = {}, ...fields } = more;
  const attributeValues = Object.entries(when).map(([name, value]) => ({ name, value }));
  const label = `${attributeName} ${priceMethod}`;
  return {
    id: `r-${label}${JSON.stringify(when)}`,
    attributeId: `a-${attributeName}`,
    attributeName,
    label,
    usageType: 'Charge',
    billingAccountId: null,
    priceMethod,
    rates,
    attributeValues,
    ...fields,
  };
}

/** Tiers as [tierMinVal, tierMaxVal or null, tierUnitRate, 'flat'?]. */
export type TierText = [min: string, max: string | null, rate: string, flat?: 'flat'];

export function tiers(...texts: TierText[]): { rateCardTiers: object[] } {
  return {
    rateCardTiers: texts.map(([tierMinVal, tierMaxVal, tierUnitRate, flat], index) => ({
      tierNum: index + 1,
      tierMinVal,
      tierMaxVal,
      tierUnitRate,
      flatRate: flat === 'flat',
    })),
  };
}

export function aCard(rows: readonly RowFacts[], more: Partial<CardFacts> = {}): CardFacts {
  const card = { currency: 'USD', versionNo: 1, fromDate: '2024-01-01', toDate: null, ...more };
  return { id: `c-${card.currency}-${card.versionNo}`, rows, ...card };
}

export function aLogic(
  steps: Record<string, string>,
  priceOutput: string,
  more: Partial<LogicFacts> = {},
): LogicFacts {
  return {
    id: 'logic',
    seqNo: 1,
    name: 'Main',
    chargeType: null,
    usageType: 'Charge',
    priceOutput,
    steps: Object.entries(steps).map(([name, formula]) => ({ name, label: null, formula })),
    ...more,
  };
}

export function aService(more: Partial<ServiceFacts> = {}): ServiceFacts {
  return {
    id: serviceId,
    name: 'Messaging',
    code: 'MSG',
    isActive: true,
    currency: 'USD',
    attributes: [anAttribute('api_calls'), anAttribute('region', 'INPUT')],
    cards: [aCard([aRow('api_calls', 'QUANTITY', { unitRate: '0.01' })])],
    logics: [],
    ...more,
  };
}

export function aLine(id: string, more: Partial<LineFacts> = {}): LineFacts {
  return {
    id,
    contractId: `contract of ${id}`,
    contractNumber: `N-${id}`,
    lineageId: id,
    contractCurrency: null,
    serviceId,
    serviceInstanceId: null,
    startDate: null,
    endDate: null,
    terminationDate: null,
    attributes: [],
    cards: [],
    ...more,
  };
}

export function anAccount(more: Partial<AccountFacts> = {}): AccountFacts {
  return { id: 'account-1', externalId: 'acme', isActive: true, defaultCurrency: null, ...more };
}

export function aContext(more: Partial<RatingContext> = {}): RatingContext {
  return { account: anAccount(), service: aService(), lines: [], ...more };
}

/** A context whose catalog card has these rows. */
export function withRows(
  rows: readonly RowFacts[],
  service: Partial<ServiceFacts> = {},
): RatingContext {
  return aContext({ service: aService({ cards: [aCard(rows)], ...service }) });
}

export type Counters = Map<string, Decimal>;

/**
 * Rates an event and moves the counters as the caller would. Every rating of every test also shows
 * that explanation and recomputation from the stored facts give the same.
 */
export function rate(
  event: UsageEvent,
  context: RatingContext,
  counters: Counters = new Map<string, Decimal>(),
  counted = new Set<string>(),
): Rated | Rejected {
  const prepared = prepare(event, context);
  if (!prepared.ok) return prepared;
  const reader: CounterReader = {
    get: (key) => counters.get(key),
    hasCounted: (_key, value) => counted.has(value),
  };
  const rated = ratePrepared(prepared, reader);
  const explained = explain(prepared, reader);
  assert.equal(
    JSON.stringify({ ...explained, explanations: 0 }),
    JSON.stringify({ ...rated, explanations: 0 }),
  );
  const plan = JSON.parse(JSON.stringify(prepared.plan)) as typeof prepared.plan;
  const again = prepareFromPlan(plan, event, structuredClone(prepared.owner));
  assert.equal(JSON.stringify(again.ok && ratePrepared(again, reader)), JSON.stringify(rated));
  if (rated.ok) {
    const known = prepared.counterKeys.map(counterKey);
    for (const { keyText, after, value } of rated.counterChanges) {
      assert.include(known, keyText, 'a counter moved that prepare did not name');
      counters.set(keyText, after);
      if (value) counted.add(value.id);
    }
  }
  return rated;
}

/** The amount of the only transaction, or the rejection's code. */
export function amountOf(rated: Rated | Rejected): string {
  if (!rated.ok) return rated.code;
  return rated.transactions.map(({ amount }) => decimalText(amount)).join(' and ');
}

export function rateAmount(message: Record<string, unknown>, context: RatingContext): string {
  return amountOf(rate(anEvent(message), context));
}

/** Rejection code and message, or 'rated'. */
export function rejectionOf(rated: Rated | Rejected): string {
  return rated.ok ? 'rated' : `${rated.code}: ${rated.message}`;
}

export const decimal = (text: string): Decimal => new Decimal(text);
