import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { membersOf, textIn, type Keeping, type Written } from '../api/written-json.ts';
import { Section } from '../frame/page.tsx';
import { cardText, Charge } from '../receipts/explanation.tsx';
import { Value } from '../audit/changes.tsx';
import { moneyText } from '../shown/format.ts';
import { Facts } from '../shown/values.tsx';

/** A charge in two states: before and after a correction, or in the books and with other prices. */
type Pair = Keeping<
  Pick<
    Schemas['RepricedCharge'],
    | 'eventId'
    | 'externalTransactionId'
    | 'currency'
    | 'before'
    | 'after'
    | 'difference'
    | 'beforeExplanation'
    | 'afterExplanation'
    | 'firstDifference'
  >,
  'firstDifference'
>;

/** A card by its name: its ids tell nobody anything. */
function Part({ step, of }: { readonly step: string | undefined; of: Written | undefined }) {
  if (step !== 'card' || of === undefined) return <Value of={of} />;
  const { source, versionNo, fromDate } = Object.fromEntries(membersOf(of));
  const texts = [source, fromDate].map((part) => (part && textIn(part)) ?? '');
  const [name = '', from = ''] = texts;
  return name === '' ? (
    <Value of={of} />
  ) : (
    cardText({ source: name, versionNo: versionNo?.json ?? '', fromDate: from })
  );
}

/** Where one of two charges is not there, or it cannot be told how it came about. */
const missingText = (name: string, amount: string): string =>
  amount === '0'
    ? `${name}: there is no charge.`
    : `${name}: how the charge came about cannot be told any more, nor where the two part.`;

/** The first step in which two charges part. */
function Parting({
  of,
  pair,
  names: [first, second],
}: {
  readonly of: NonNullable<Pair['firstDifference']>;
  readonly pair: Pair;
  readonly names: readonly [before: string, after: string];
}): ReactNode {
  const { step, before, after } = Object.fromEntries(membersOf(of));
  const name = step && textIn(step);
  if (name === 'charge') {
    const isFirst = before === undefined || before.json === 'null';
    return <p>{isFirst ? missingText(first, pair.before) : missingText(second, pair.after)}</p>;
  }
  return (
    <p>
      They part at{' '}
      <strong>
        <Value of={step} />
      </strong>
      : <Part step={name} of={before} /> became <Part step={name} of={after} />.
    </p>
  );
}

/** One of two explanations; there may be none. */
const Side = ({
  title,
  of,
}: {
  readonly title: string;
  readonly of: Pair['beforeExplanation'];
}): ReactNode => (
  <div className="card">
    <h3>{title}</h3>
    {of === null || of === undefined ? (
      <p className="muted">There is no charge, or it cannot be told.</p>
    ) : (
      <Charge explanation={of} />
    )}
  </div>
);

/** A charge in both states: where the two part, and both in full. */
export function ChargePair({
  of,
  names: [first, second] = ['Before', 'After'],
}: {
  readonly of: Pair;
  readonly names?: readonly [before: string, after: string];
}): ReactNode {
  const { externalTransactionId, eventId, before, after, difference, currency } = of;
  const { firstDifference } = of;
  return (
    <Section title={`Event ${externalTransactionId}`}>
      <Facts
        of={[
          [
            'Event',
            <Link key="event" to="/receipts/$eventId" params={{ eventId }} search={{}}>
              <bdi>{externalTransactionId}</bdi>
            </Link>,
          ],
          [first, moneyText(before, currency)],
          [second, moneyText(after, currency)],
          ['Difference', <strong key="difference">{moneyText(difference, currency)}</strong>],
        ]}
      />
      {firstDifference === null || firstDifference === undefined ? null : (
        <Parting of={firstDifference} pair={of} names={[first, second]} />
      )}
      <details>
        <summary>Both charges of {externalTransactionId}, side by side</summary>
        <div className="sides">
          <Side title={first} of={of.beforeExplanation} />
          <Side title={second} of={of.afterExplanation} />
        </div>
      </details>
    </Section>
  );
}
