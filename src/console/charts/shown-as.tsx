import type { ReactNode } from 'react';

const ways = [
  ['both', 'Chart and table'],
  ['chart', 'Chart'],
  ['table', 'Table'],
] as const;

/** How figures are shown that a chart and a table have alike. */
export type Way = (typeof ways)[number][0];

export const wayOf = (text: string | undefined): Way =>
  ways.find(([way]) => way === text)?.[0] ?? 'both';

/** Switches between a chart, the table of the same figures, and both. */
export const ShownAs = ({
  way,
  onChange,
}: {
  readonly way: Way;
  readonly onChange: (way: Way) => void;
}): ReactNode => (
  <div role="group" aria-label="Show as" className="ways">
    {ways.map(([one, name]) => (
      <button key={one} type="button" aria-pressed={one === way} onClick={() => onChange(one)}>
        {name}
      </button>
    ))}
  </div>
);
