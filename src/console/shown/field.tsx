import type { ReactNode } from 'react';
import { isNumberText } from '../api/exact-json.ts';

/** A line that somebody fills in: words, a day, or a number of which no digit is lost. */
export const Field = ({
  label,
  value,
  type = 'text',
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly type?: 'text' | 'date' | 'number';
  readonly onChange: (value: string) => void;
}): ReactNode => (
  <label>
    <span>{label}</span>
    {type === 'number' ? (
      <input
        inputMode="decimal"
        value={value}
        aria-invalid={value !== '' && !isNumberText(value)}
        onChange={({ target }) => onChange(target.value.trim())}
      />
    ) : (
      <input
        type={type}
        value={value}
        maxLength={255}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </label>
);

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
      rows={2}
      maxLength={1000}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);
