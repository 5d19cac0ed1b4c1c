import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { useReasonAgainst } from '../session/may.ts';
import type { Written } from '../session/needs.ts';
import { Fault } from './loaded.tsx';
import { Press } from './press.tsx';

/** What somebody may not do, and why, in the place of its button. */
export const Withheld = ({
  name,
  reason,
}: {
  readonly name: string;
  readonly reason: string;
}): ReactNode => (
  <p className="muted">
    {name}: {reason}.
  </p>
);

/**
 * A button that changes something; what came of it, or why nothing did, is said beside it. Who may not
 * do it reads why in its place.
 */
export function Action<T>({
  operation = null,
  name,
  onDo,
  told,
  onDone,
  onRefused,
  isPrimary = false,
  isDangerous = false,
  lacks,
  isHeld = false,
}: {
  /** What it writes with: who may not, learns it before. */
  readonly operation?: Written;
  readonly name: string;
  readonly onDo: () => Promise<T>;
  /** What is said once it is done. */
  readonly told?: (result: T) => string;
  readonly onDone?: (result: T) => void;
  /** What the API refused, where a form marks the fields that it is about. */
  readonly onRefused?: (problem: ApiProblem) => void;
  readonly isPrimary?: boolean;
  /** What ends, removes or refuses something looks like it. */
  readonly isDangerous?: boolean;
  /** What has to be given before; it is said beside the button. */
  readonly lacks?: string | undefined;
  /** Where it was done, and there is nothing left to do: it keeps the focus. */
  readonly isHeld?: boolean;
}): ReactNode {
  const client = useQueryClient();
  const reasonAgainst = useReasonAgainst(operation);
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: onDo,
    onSuccess: async (result) => {
      // Whatever is shown may have changed.
      await client.invalidateQueries();
      onDone?.(result);
    },
    onError: (problem) => {
      if (problem instanceof ApiProblem) onRefused?.(problem);
    },
  });
  // Two presses before anything is drawn are one: what is held is known only once it is drawn.
  const isUnderWay = useRef(false);
  const press = (): void => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    const end = (): void => {
      isUnderWay.current = false;
    };
    mutate(undefined, { onSettled: end });
  };
  if (reasonAgainst !== undefined) {
    return <Withheld name={name} reason={reasonAgainst} />;
  }
  return (
    <div className="again">
      <Press
        className={[isPrimary && 'primary', isDangerous && 'danger'].filter(Boolean).join(' ')}
        isHeld={isPending || isHeld}
        lacks={lacks}
        onPress={press}
      >
        {name}
      </Press>
      <p role="status" className="good">
        {isPending ? 'Working…' : data === undefined ? '' : (told?.(data) ?? '')}
      </p>
      {/* Where something lacks, what was refused before is not what stands there now. */}
      {error && lacks === undefined ? <Fault error={error} /> : null}
    </div>
  );
}

/**
 * Says what something would come to; only then there is the button that does it. Who may not do it may
 * not try it either.
 */
export function TryFirst<Tried, Done>({
  operation,
  tryName,
  name,
  of,
  isDangerous = false,
  lacks,
  onTry,
  show,
  onDo,
  told,
  onDone,
}: {
  readonly operation: Written;
  readonly tryName: string;
  readonly name: string;
  /** What is done, and to what: where it is something else, it is tried anew. */
  readonly of: string;
  readonly isDangerous?: boolean;
  readonly lacks?: string | undefined;
  /** Null: there is nothing to be shown, and so nothing to be done. */
  readonly onTry: () => Promise<Tried | null>;
  readonly show: (tried: Tried) => ReactNode;
  /** Does it, as it was tried. */
  readonly onDo: (tried: Tried) => Promise<Done>;
  /** What is said once it is done. */
  readonly told?: (done: Done) => string;
  readonly onDone?: (done: Done) => void;
}): ReactNode {
  const [tried, setTried] = useState<{ readonly of: string; readonly found: Tried | null }>();
  const [said, setSaid] = useState('');
  const found = tried?.of === of ? tried.found : null;
  return (
    <>
      <Action
        operation={operation}
        name={tryName}
        lacks={lacks}
        // Of what it was at the press: something else may be chosen meanwhile.
        onDo={async () => ({ of, found: await onTry() })}
        onDone={setTried}
      />
      <div role="status">{found === null ? said && <p>{said}</p> : show(found)}</div>
      {found === null ? null : (
        <Action
          operation={operation}
          name={name}
          isPrimary
          isDangerous={isDangerous}
          lacks={lacks}
          onDo={() => onDo(found)}
          onDone={(done) => {
            setSaid(told?.(done) ?? '');
            setTried(undefined);
            onDone?.(done);
          }}
        />
      )}
    </>
  );
}
