import { useState, type ReactNode } from 'react';
import type { Written } from '../session/needs.ts';
import { Action } from '../shown/action.tsx';

/** Says what something would come to; only then there is the button that does it. */
export function TryFirst<Tried, Done>({
  operation,
  tryName,
  name,
  of,
  isDisabled = false,
  onTry,
  show,
  onDo,
  told,
}: {
  readonly operation: Written;
  readonly tryName: string;
  readonly name: string;
  /** What is done: where it is something else, it is tried anew. */
  readonly of: string;
  readonly isDisabled?: boolean;
  readonly onTry: () => Promise<Tried>;
  readonly show: (tried: Tried) => ReactNode;
  readonly onDo: () => Promise<Done>;
  readonly told: (done: Done) => string;
}): ReactNode {
  const [tried, setTried] = useState<{ readonly of: string; readonly found: Tried }>();
  const [said, setSaid] = useState('');
  const isTried = tried?.of === of;
  return (
    <>
      <Action
        operation={operation}
        name={tryName}
        isDisabled={isDisabled}
        // Of what it was at the press: something else may be chosen meanwhile.
        onDo={async () => ({ of, found: await onTry() })}
        onDone={setTried}
      />
      <div role="status">{isTried ? show(tried.found) : said}</div>
      {isTried ? (
        <Action
          operation={operation}
          name={name}
          isPrimary
          isDisabled={isDisabled}
          onDo={onDo}
          onDone={(done) => {
            setSaid(told(done));
            setTried(undefined);
          }}
        />
      ) : null}
    </>
  );
}
