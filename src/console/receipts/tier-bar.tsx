import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { moneyText, quantityText } from '../shown/format.ts';

type ExplainedRow = Schemas['ExplainedRow'];
type ExplainedTier = Schemas['ExplainedTier'];

/** A length of the drawing, of 1,000 in all; the only place where figures are doubles. */
const lengthOf = (text: string, of: string): number => (1_000 * Number(text)) / (Number(of) || 1);

const columns = (currency: string): readonly Column<ExplainedTier>[] => [
  { name: 'Tier', show: ({ tierNum }) => tierNum },
  { name: 'Above', isNumber: true, show: ({ from }) => quantityText(from) },
  { name: 'Up to', isNumber: true, show: ({ to }) => quantityText(to) },
  { name: 'Volume', isNumber: true, show: ({ volume }) => quantityText(volume) },
  {
    name: 'Price',
    isNumber: true,
    show: ({ unitRate, isFlat, amount }) =>
      isFlat ? `${moneyText(amount, currency)} once` : `× ${moneyText(unitRate, currency)}`,
  },
  { name: 'Amount', isNumber: true, show: ({ amount }) => moneyText(amount, currency) },
];

/** Where the usage of a charge lies among the tiers, from where the counter was to where it is. */
export function TierBar({
  row,
  name,
}: {
  readonly row: ExplainedRow;
  readonly name: string;
}): ReactNode {
  const end = row.tiers.at(-1)?.to ?? '1';
  const start = row.counter?.before ?? row.tiers[0]?.from ?? '0';
  return (
    <svg
      className="tiers"
      role="img"
      aria-label={name}
      viewBox="0 0 1000 60"
      preserveAspectRatio="none"
    >
      <rect className="before" x="0" y="14" width={lengthOf(start, end)} height="32" />
      {row.tiers.map(({ tierNum, from, to }, index) => (
        <rect
          key={`${tierNum} ${from}`}
          className={index % 2 === 0 ? 'tier' : 'tier other'}
          x={lengthOf(from, end)}
          y="14"
          width={Math.max(2, lengthOf(to, end) - lengthOf(from, end))}
          height="32"
        />
      ))}
      <path className="mark" d={`M${Math.max(2, lengthOf(start, end))} 4v52`} />
      <path className="mark" d="M998 4v52" />
    </svg>
  );
}

/** The tiers of a priced row: drawn, and the same figures in a table. */
export function Tiers({
  row,
  currency,
}: {
  readonly row: ExplainedRow;
  readonly currency: string;
}): ReactNode {
  const { counter, tiers } = row;
  const before = quantityText(counter?.before ?? tiers[0]?.from ?? '0');
  const after = quantityText(counter?.after ?? tiers.at(-1)?.to ?? '0');
  return (
    <figure aria-label={`Tiers of ${row.row.label}`}>
      <TierBar row={row} name={`The counter went from ${before} to ${after}`} />
      <figcaption>
        {counter === null
          ? `From ${before} to ${after}.`
          : `The counter (${counter.frequency.toLowerCase()}, from ${counter.periodStart}) went from ${before} to ${after}.`}
      </figcaption>
      <DataTable
        caption={`Tiers of ${row.row.label}`}
        columns={columns(currency)}
        rows={tiers}
        keyOf={({ tierNum, from }) => `${tierNum} ${from}`}
      />
    </figure>
  );
}
