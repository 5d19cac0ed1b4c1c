import type { ReactNode } from 'react';
import { quantityText } from '../shown/format.ts';

/** Parts that add up to a whole, as one strip; each is said below it. */
export function Strip({
  name,
  parts,
}: {
  readonly name: string;
  readonly parts: readonly {
    readonly name: string;
    readonly count: string;
    readonly tone: 'good' | 'bad' | 'open' | 'muted';
    readonly more?: ReactNode;
  }[];
}): ReactNode {
  const all = parts.reduce((sum, { count }) => sum + Number(count), 0) || 1;
  let left = 0;
  return (
    <figure aria-label={name}>
      <svg className="strip" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
        <rect className="ground" width="1000" height="20" />
        {parts.map(({ name: of, count, tone }) => {
          const x = left;
          const width = (1_000 * Number(count)) / all;
          left += width;
          return <rect key={of} className={`fill-${tone}`} x={x} width={width} height="20" />;
        })}
      </svg>
      <dl className="facts">
        {parts.map(({ name: of, count, tone, more }) => (
          <div key={of}>
            <dt>
              <span className={`dot fill-${tone}`} aria-hidden="true" /> {of}
            </dt>
            <dd>
              {quantityText(count)} {more}
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}
