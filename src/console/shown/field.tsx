import type { ReactNode } from 'react';
import { isNumberText } from '../api/exact-json.ts';

/** A line that somebody fills in: words, a day, or a number of which no digit is lost. */
export const Field = ({
  name,
  label,
  value,
  type = 'text',
  onChange,
}: {
  /** What the API calls what is written here: what it says of that is shown with the label. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly type?: 'text' | 'date' | 'number';
  readonly onChange: (value: string) => void;
}): ReactNode => (
  <label>
    <span>{label}</span>
    {type === 'number' ? (
      <input
        name={name}
        inputMode="decimal"
        value={value}
        aria-invalid={value !== '' && !isNumberText(value)}
        onChange={({ target }) => onChange(target.value.trim())}
      />
    ) : (
      <input
        name={name}
        type={type}
        value={value}
        maxLength={255}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </label>
);

/** Where a reason is still to be given, what to do. */
export const lackOfReason = (reason: string): string | undefined =>
  reason.trim() === '' ? 'Give a reason first.' : undefined;

/** Why somebody does something, which is kept with it. */
export const Reason = ({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode => (
  <label className="wide">
    <span>{label}</span>
    <textarea
      name="reason"
      rows={2}
      maxLength={1000}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);
