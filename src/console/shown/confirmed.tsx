import { useState, type ReactNode } from 'react';
import { useReasonAgainst } from '../session/may.ts';
import type { Written } from '../session/needs.ts';
import { Action } from './action.tsx';

/**
 * Something that cannot be taken back: what it does is read before there is the button that does it. Who
 * may not do it reads why in its place.
 */
export function Confirmed<T>({
  operation,
  name,
  children,
  onDo,
  told,
}: {
  readonly operation: Written;
  readonly name: string;
  /** What follows. */
  readonly children: ReactNode;
  readonly onDo: () => Promise<T>;
  readonly told?: (result: T) => string;
}): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const reasonAgainst = useReasonAgainst(operation);
  if (reasonAgainst !== undefined) {
    return (
      <p className="muted">
        {name}: {reasonAgainst}.
      </p>
    );
  }
  return (
    <>
      <button
        type="button"
        className="danger"
        aria-expanded={isAsked}
        onClick={() => setAsked(!isAsked)}
      >
        {name}
      </button>
      {isAsked ? (
        <div className="asked">
          {children}
          <Action
            operation={operation}
            name={`${name} now`}
            isDangerous
            onDo={onDo}
            {...(told === undefined ? {} : { told })}
          />
        </div>
      ) : null}
    </>
  );
}
