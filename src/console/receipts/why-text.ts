import { quantityText } from '../shown/format.js';

/** What of a priced row says why it was chosen, and what it counted. */
interface Priced {
  readonly matched: readonly { readonly name: string; readonly value: string }[];
  readonly quantityFrom: 'dimension' | 'message.quantity' | 'default' | 'formula';
  readonly step: string | null;
  readonly aggregation?: 'SUM' | 'MAX' | 'LAST' | 'UNIQUE';
  readonly packages?: { readonly size: string; readonly before: string; readonly after: string };
}

const quantities: Readonly<Record<Priced['quantityFrom'], string | undefined>> = {
  dimension: undefined,
  'message.quantity': 'The event names no value of it: its quantity was taken.',
  default: 'The event names neither a value of it nor a quantity: it counts as one.',
  formula: 'A formula gave the quantity.',
};

const counters: Readonly<Record<string, string>> = {
  MAX: 'Its counter keeps the largest value.',
  LAST: 'Its counter keeps the last value.',
  UNIQUE: 'Its counter counts each value once.',
};

/** Why a row of a card priced usage, and of what, in sentences; none where nothing is special. */
export function whyText({ matched, quantityFrom, step, aggregation, packages }: Priced): string[] {
  const values = matched.map(({ name, value }) => `${name} is ${value}`).join(' and ');
  const counter = aggregation === undefined ? undefined : counters[aggregation];
  return [
    values === '' ? undefined : `The row was chosen because ${values}.`,
    step === null ? undefined : `The formula step ${step} asked for this price.`,
    quantities[quantityFrom],
    counter,
    packages === undefined
      ? undefined
      : `Of packages of ${quantityText(packages.size)}, ${quantityText(packages.before)} were begun before and ${quantityText(packages.after)} are with it.`,
  ].filter((sentence) => sentence !== undefined);
}

/** What an explanation says of what it leaves out. */
export const leftOutText = (leftOut: string): string =>
  `${quantityText(leftOut)} more rows and steps are not shown: an explanation has at most 1 MiB.`;
