import { Fragment, type ReactNode } from 'react';
import { localText, moneyText, quantityText } from './format.ts';

export const Money = ({
  amount,
  currency,
}: {
  readonly amount: string;
  /** Null: of a wallet that counts something else. */
  readonly currency: string | null;
}): ReactNode => (
  <span className="number">
    {currency === null ? quantityText(amount) : moneyText(amount, currency)}
  </span>
);

/** A time in UTC; in the zone of whoever looks, where he points at it. */
export const Instant = ({ at }: { readonly at: string | null }): ReactNode =>
  at === null ? (
    <None />
  ) : (
    <time dateTime={at} title={localText(at)}>
      {/* A line may end between the day and the time, and nowhere else. */}
      <span className="whole">{at.slice(0, 10)}</span>{' '}
      <span className="whole">{at.slice(11, 19)} UTC</span>
    </time>
  );

/** Where there is nothing, for eyes and ears. */
export const None = (): ReactNode => (
  <span className="muted">
    <span aria-hidden="true">–</span>
    <span className="heard">none</span>
  </span>
);

export const orNone = (value: string | null | undefined): ReactNode =>
  value === null || value === undefined || value === '' ? <None /> : value;

/** A word of the API, such as ACCOUNT_NOT_FOUND: a line ends in it only after a `_`. */
export const Code = ({ of }: { readonly of: string | null | undefined }): ReactNode =>
  of === null || of === undefined ? (
    <None />
  ) : (
    <code>
      {of.split(/(?<=_)/).map((part, at) => (
        <Fragment key={at}>
          {at === 0 ? null : <wbr />}
          {part}
        </Fragment>
      ))}
    </code>
  );

/** Days and numbers of documents, of which a title may have some. */
const unbroken = /(\d{4}-\d{2}-\d{2}|\b[A-Z]{2,3}-\d{6}\b)/;

/** A title whose lines do not end within a day or a number. */
export const titleOf = (text: string): ReactNode[] =>
  text.split(unbroken).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <span key={at} className="whole">
        {part}
      </span>
    ),
  );

/** Good, bad or open, said by a word; the colour only repeats it. */
const tones: Readonly<Record<string, string>> = {
  active: 'good',
  approved: 'good',
  paid: 'good',
  settled: 'good',
  rated: 'good',
  completed: 'good',
  delivered: 'good',
  answers: 'good',
  rejected: 'bad',
  failed: 'bad',
  failing: 'bad',
  'switched off': 'bad',
  'does not answer': 'bad',
  timed_out: 'bad',
  overdue: 'bad',
  inactive: 'bad',
  void: 'bad',
  expired: 'bad',
  pending: 'open',
  sending: 'open',
  retrying: 'open',
  running: 'open',
  unpaid: 'open',
  'partially paid': 'open',
  draft: 'open',
};

export const Status = ({ name }: { readonly name: string | null | undefined }): ReactNode =>
  name === null || name === undefined ? (
    <None />
  ) : (
    <span className={`status ${tones[name.toLowerCase()] ?? ''}`}>{name}</span>
  );

/** Names and their values. */
export const Facts = ({
  of,
}: {
  readonly of: readonly (readonly [name: string, value: ReactNode])[];
}): ReactNode => (
  <dl className="facts">
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
