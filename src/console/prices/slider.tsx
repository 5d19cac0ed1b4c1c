import type { ReactNode } from 'react';
import { isNumberText } from '../api/exact-json.ts';
import { percentMax, placeOf, scaled, wholeOf } from './scaled.ts';

/** A price to slide, in percent of what is in force: what it comes to has every digit. */
export function Slider({
  label,
  inForce,
  value,
  onChange,
}: {
  readonly label: string;
  readonly inForce: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}): ReactNode {
  if (!isNumberText(inForce)) return null;
  const whole = wholeOf(inForce);
  return (
    <label>
      <span className="heard">{`Slide ${label}`}</span>
      <input
        type="range"
        min="0"
        max={percentMax}
        value={placeOf(value, whole)}
        aria-valuetext={value}
        onChange={({ target }) => onChange(scaled(whole, BigInt(target.value)))}
      />
    </label>
  );
}
