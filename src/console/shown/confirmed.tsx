import { useRef, useState, type ReactNode } from 'react';
import { useReasonAgainst } from '../session/may.ts';
import type { Written } from '../session/needs.ts';
import { Action, Withheld } from './action.tsx';

/**
 * What became of something whose button is gone then: where it is said, which takes the focus, and what
 * says it there.
 */
export function useTold(): readonly [place: ReactNode, tell: (text: string) => void] {
  const place = useRef<HTMLParagraphElement>(null);
  const [told, setTold] = useState('');
  const tell = (text: string): void => {
    setTold(text);
    place.current?.focus();
  };
  return [
    <p key="told" ref={place} role="status" className="good" tabIndex={-1}>
      {told}
    </p>,
    tell,
  ];
}

/**
 * Something that cannot be taken back: what it does is read before there is the button that does it. Who
 * may not do it reads why in its place.
 */
export function Confirmed({
  operation,
  name,
  children,
  onDo,
  onDone,
}: {
  readonly operation: Written;
  readonly name: string;
  /** What follows. */
  readonly children: ReactNode;
  readonly onDo: () => Promise<unknown>;
  /** Says what became of it where it stays; see `useTold`. */
  readonly onDone: () => void;
}): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const reasonAgainst = useReasonAgainst(operation);
  if (reasonAgainst !== undefined) {
    return <Withheld name={name} reason={reasonAgainst} />;
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
            // Said even where the page has learned of it first, and the button is gone.
            onDo={() => onDo().then(onDone)}
          />
        </div>
      ) : null}
    </>
  );
}
