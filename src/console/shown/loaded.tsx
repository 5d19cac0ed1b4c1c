import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { useInLabels } from '../api/in-labels.ts';

const titles: Readonly<Record<number, string>> = {
  403: 'This is not allowed',
  404: 'There is nothing here',
};

/** What the same request would be answered with again: it has to be another one. */
const lasting = new Set([400, 403, 404, 409, 410, 422]);

/** What an error says, with the labels of the form for what the API calls otherwise. */
export const Message = ({
  of,
  className,
}: {
  readonly of: unknown;
  readonly className?: string;
}): ReactNode => {
  const { place, text } = useInLabels(of);
  return (
    <p ref={place} className={className}>
      {text}
    </p>
  );
};

/** Says at its place what went wrong, and what can be done. */
export function Fault({
  error,
  onAgain,
}: {
  readonly error: unknown;
  readonly onAgain?: () => void;
}): ReactNode {
  const status = error instanceof ApiProblem ? error.status : undefined;
  const requestId = error instanceof ApiProblem ? error.requestId : null;
  return (
    <div role="alert" className="fault">
      <p>
        <strong>{titles[status ?? 0] ?? 'This did not work'}</strong>
      </p>
      <Message of={error} />
      {requestId === null ? null : (
        <p className="muted">
          Request <code>{requestId}</code>
        </p>
      )}
      {onAgain === undefined || lasting.has(status ?? 0) ? null : (
        <button type="button" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Where a list has nothing, and what makes something. */
export const Empty = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div className="empty">{children}</div>
);

/** Why what is shown is not what there is now; that nobody answers at all the frame says. */
const NotNow = ({ reason }: { readonly reason: Error | null }): ReactNode =>
  reason === null || (reason instanceof ApiProblem && reason.status === 0) ? null : (
    <p role="status" className="bad">
      Not up to date: {reason.message}
    </p>
  );

/** What was asked for, once it is there; until then and otherwise, how it stands. */
export function Loaded<T>({
  query,
  children,
}: {
  readonly query: UseQueryResult<T>;
  readonly children: (data: T) => ReactNode;
}): ReactNode {
  const { data, error, failureReason, refetch } = query;
  if (data !== undefined) {
    return (
      <>
        <NotNow reason={failureReason ?? error} />
        {children(data)}
      </>
    );
  }
  if (error) return <Fault error={error} onAgain={() => void refetch()} />;
  return (
    <p role="status" className="loading">
      {failureReason === null ? 'Loading…' : `Waiting: ${failureReason.message}`}
    </p>
  );
}
