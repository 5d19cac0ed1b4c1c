import type { ReactNode } from 'react';
import { quantityText } from './format.ts';
import { Press } from './press.tsx';

/** Where a list stands, and its other pages. */
export function Pager({
  name,
  first,
  from = first,
  shown,
  total,
  isOfMany = false,
  onMove,
  onAhead,
}: {
  readonly name: string;
  /** Place of the first row of the page that is asked for, from 0. */
  readonly first: number;
  /** That of the page that is shown, until the other one is there. */
  readonly from?: number;
  readonly shown: number;
  readonly total: string;
  /** Of several lists on a page: where it stands is said only where it has other pages. */
  readonly isOfMany?: boolean;
  readonly onMove: (by: -1 | 1) => void;
  /** Reads a page that is probably asked for next, so that it is there then. */
  readonly onAhead?: ((by: number) => void) | undefined;
}): ReactNode {
  const last = first + shown;
  const isLast = BigInt(last) >= BigInt(total);
  const isAll = first === 0 && isLast;
  const isLastNext = BigInt(last + shown) >= BigInt(total);
  if (isOfMany && isAll) return null;
  return (
    <nav className="pager" aria-label={`Pages of ${name}`}>
      <p role="status">
        {quantityText(String(from + 1))} to {quantityText(String(from + shown))} of{' '}
        {quantityText(total)}
      </p>
      {isAll ? null : (
        <>
          <Press isHeld={first === 0} onPress={() => onMove(-1)} onPointed={() => onAhead?.(-1)}>
            Previous
          </Press>
          <Press
            isHeld={isLast}
            onPress={() => {
              onMove(1);
              // Who turns one page turns the next.
              if (!isLastNext) onAhead?.(2);
            }}
            onPointed={() => onAhead?.(1)}
          >
            Next
          </Press>
        </>
      )}
    </nav>
  );
}
