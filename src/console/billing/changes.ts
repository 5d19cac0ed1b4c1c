import type { Schemas } from '../api/client.ts';

type Run = Schemas['BillingRun'];
type Total = NonNullable<Run['totals']>[number];
type Draft = Run['drafts'][number];

/** Something of a dry run beside the same of another; undefined: it is not there. */
export interface Pair<T> {
  readonly key: string;
  readonly before: T | undefined;
  readonly now: T | undefined;
}

const totalKey = ({ invoiceType, currency }: Total): string => `${invoiceType}, ${currency}`;

const draftKey = ({ accountId, invoiceType, currency }: Draft): string =>
  `${accountId} ${invoiceType} ${currency}`;

/** Those that are not the same in both. */
function differing<T>(
  before: readonly T[],
  now: readonly T[],
  keyOf: (of: T) => string,
  figuresOf: (of: T) => readonly string[],
): Pair<T>[] {
  const [old, fresh] = [before, now].map(
    (all) => new Map(all.map((each) => [keyOf(each), each] as const)),
  );
  const keys = [...new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])])];
  return keys
    .map((key) => ({ key, before: old?.get(key), now: fresh?.get(key) }))
    .filter(
      (pair) =>
        pair.before === undefined ||
        pair.now === undefined ||
        figuresOf(pair.before).join(' ') !== figuresOf(pair.now).join(' '),
    );
}

/** Sums that differ. */
export const changedTotals = (before: Run, now: Run): Pair<Total>[] =>
  differing(before.totals ?? [], now.totals ?? [], totalKey, ({ count, amount, taxAmount }) => [
    count,
    amount,
    taxAmount,
  ]);

/** Invoices that differ, among those that are shown. */
export const changedDrafts = (before: Run, now: Run): Pair<Draft>[] =>
  differing(before.drafts, now.drafts, draftKey, ({ amount, taxAmount }) => [amount, taxAmount]);

/** Whether two dry runs come to the same, as far as they show it. */
export const isSame = (before: Run, now: Run): boolean =>
  before.invoiceCount === now.invoiceCount &&
  changedTotals(before, now).length === 0 &&
  changedDrafts(before, now).length === 0;
