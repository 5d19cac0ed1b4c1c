import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useReasonAgainst } from '../session/may.ts';
import type { Written } from '../session/needs.ts';
import { Fault } from './loaded.tsx';
import { Press } from './press.tsx';

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
  isPrimary = false,
  isDisabled = false,
  isHeld = false,
}: {
  /** What it writes with: who may not, learns it before. */
  readonly operation?: Written;
  readonly name: string;
  readonly onDo: () => Promise<T>;
  /** What is said once it is done. */
  readonly told?: (result: T) => string;
  readonly onDone?: (result: T) => void;
  readonly isPrimary?: boolean;
  readonly isDisabled?: boolean;
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
  });
  if (reasonAgainst !== undefined) {
    return (
      <p className="muted">
        {name}: {reasonAgainst}.
      </p>
    );
  }
  return (
    <div className="again">
      <Press
        className={isPrimary ? 'primary' : ''}
        isHeld={isPending || isHeld}
        isDisabled={isDisabled}
        onPress={() => mutate()}
      >
        {name}
      </Press>
      <p role="status" className="good">
        {isPending ? 'Working…' : data === undefined ? '' : (told?.(data) ?? '')}
      </p>
      {error ? <Fault error={error} /> : null}
    </div>
  );
}
