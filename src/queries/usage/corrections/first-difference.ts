import type { Explanation } from '../../../rating/index.js';

/** The first step in which two explanations part; what is missing on one side is null. */
export interface FirstDifference {
  readonly step: string;
  readonly before: unknown;
  readonly after: unknown;
}

type Step = readonly [name: string, value: unknown];

/**
 * The steps of an explanation in the order in which a charge comes about: under which line, by which
 * card, which rows with which quantity, where the counter stood, each tier, each formula step, and
 * the amount.
 */
function* stepsOf(of: Explanation): Generator<Step> {
  yield ['date', of.date];
  yield ['service', of.service.id];
  yield [
    'contract line',
    of.contractLine && { id: of.contractLine.id, contractNumber: of.contractLine.contractNumber },
  ];
  const { source, versionNo, fromDate, currency, id } = of.card;
  yield ['card', { id, source, versionNo, fromDate, currency }];
  yield ['usage type', of.usageType];
  yield ['billed account', of.billedAccountId];
  for (const row of of.rows) {
    const name = row.row.attributeName;
    yield [
      `row of ${name}`,
      { label: row.row.label, priceMethod: row.row.priceMethod, rates: row.row.rates },
    ];
    yield [`quantity of ${name}`, row.quantity];
    yield [
      `counter of ${name}`,
      row.counter && {
        before: row.counter.before,
        after: row.counter.after,
        periodStart: row.counter.periodStart,
      },
    ];
    for (const tier of row.tiers) yield [`tier ${tier.tierNum} of ${name}`, tier];
    yield [`price of ${name}`, row.amount];
  }
  for (const step of of.steps)
    yield [`${step.logic}: ${step.name}`, { formula: step.formula, value: step.value }];
  for (const { adjustmentId, kind, value, before, after } of of.adjustments ?? [])
    yield [`${kind} ${adjustmentId}`, { value, before, after }];
  if (of.share) yield ['share', of.share];
  yield ['total', of.total.amount];
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Where two charges part, step by step; null: nowhere. A charge that is not there parts at once. */
export function firstDifference(
  before: Explanation | null,
  after: Explanation | null,
): FirstDifference | null {
  if (!before || !after) {
    if (!before && !after) return null;
    const [was, is] = [before, after].map((of) => of && { amount: of.total.amount });
    return { step: 'charge', before: was ?? null, after: is ?? null };
  }
  const [old, now] = [stepsOf(before), stepsOf(after)];
  for (;;) {
    const [a, b] = [old.next(), now.next()];
    if (a.done === true && b.done === true) return null;
    const was = a.done === true ? undefined : a.value;
    const is = b.done === true ? undefined : b.value;
    if (was && is && was[0] === is[0] && isSame(was[1], is[1])) continue;
    const isOneStep = was?.[0] === is?.[0];
    return {
      step: (is ?? was ?? ['total'])[0],
      before: isOneStep || !is ? (was?.[1] ?? null) : null,
      after: is?.[1] ?? null,
    };
  }
}
