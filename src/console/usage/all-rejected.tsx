import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { read } from '../api/problem.ts';
import { Action, TryFirst } from '../shown/action.tsx';
import { Reason } from '../shown/field.tsx';
import { quantityText } from '../shown/format.ts';
import { Facts } from '../shown/values.tsx';
import { filterOf, type EventSearch } from './queries.ts';

const retryAll = (search: EventSearch) =>
  read(api.POST('/v1/usage-events/retry', { body: filterOf(search) }));

/** What has done it, step by step. */
const Did = ({ workflow, by }: { workflow: string; by: string | undefined }): ReactNode =>
  by === undefined ? null : (
    <Link
      to="/workflows/$workflowId/executions/$executionId"
      params={{ workflowId: workflow, executionId: by }}
    >
      Its execution
    </Link>
  );

/** What came of it; of what there is none of, nothing. */
const retriedText = ({
  retried,
  rated,
  rejected,
}: Awaited<ReturnType<typeof retryAll>>): string => {
  const parts = [
    ...(rated === '0' ? [] : [`${quantityText(rated)} rated`]),
    ...(rejected === '0' ? [] : [`${quantityText(rejected)} still rejected`]),
  ];
  return retried === '0'
    ? 'Nothing was left to try again.'
    : `${quantityText(retried)} tried again: ${parts.join(', ')}.`;
};

/**
 * Rates all rejected events of these filters again, where there are any. Once it was pressed it stays,
 * and what came of it with it, though there may be none any more.
 */
export function RetryAll({
  search,
  total,
}: {
  readonly search: EventSearch;
  total: string;
}): ReactNode {
  const [done, setDone] = useState<Awaited<ReturnType<typeof retryAll>>>();
  const isNone = total === '0';
  if (isNone && !done) return null;
  return (
    <>
      <Action
        operation="retryUsageEvents"
        name={isNone ? 'Try all again' : `Try all ${quantityText(total)} again`}
        isHeld={isNone}
        onDo={async () => {
          const retried = await retryAll(search);
          // Before the list is read again: without it, this would be gone with what it says.
          setDone(retried);
          return retried;
        }}
        told={retriedText}
      />
      <Did workflow="retry-usage" by={done?.executionId} />
    </>
  );
}

type Dismissed = Schemas['EventsDismissed'];

const dismissAll = (search: EventSearch, reason: string, dryRun: boolean) =>
  read(api.POST('/v1/usage-events/dismiss', { body: { ...filterOf(search), reason, dryRun } }));

/** Which events would be dismissed. */
const Preview = ({ of: { dismissed, isComplete, reasons } }: { of: Dismissed }): ReactNode =>
  dismissed === '0' ? (
    <p>There is nothing to dismiss any more.</p>
  ) : (
    <>
      <Facts
        of={[
          ['Events that are dismissed', quantityText(dismissed)],
          ...(reasons ?? []).map(
            ({ code, events }) => [`Rejected for ${code}`, quantityText(events)] as const,
          ),
        ]}
      />
      <p>
        They are never billed: they count as canceled and are not tried again.
        {isComplete ? null : ' These are the newest; more are left for another time.'}
      </p>
    </>
  );

const dismissedText = ({ dismissed, isComplete }: Dismissed): string =>
  `${quantityText(dismissed)} dismissed.${isComplete ? '' : ' There are more.'}`;

/** Dismisses all rejected events of these filters, and says before which those are. */
export function DismissAll({ search, total }: { search: EventSearch; total: string }): ReactNode {
  const [written, setReason] = useState('');
  const [done, setDone] = useState<Dismissed>();
  const reason = written.trim();
  const isNone = total === '0';
  return (
    <>
      {isNone ? null : (
        <details>
          <summary>Dismiss all {quantityText(total)}</summary>
          <Reason label="Reason, which is kept with each" value={written} onChange={setReason} />
          <TryFirst
            operation="dismissUsageEvents"
            tryName="What dismissing them changes"
            name="Dismiss them"
            of={total}
            isDisabled={reason === ''}
            onTry={() => dismissAll(search, reason, true)}
            show={(tried) => <Preview of={tried} />}
            onDo={() => dismissAll(search, reason, false)}
            onDone={setDone}
          />
        </details>
      )}
      <p role="status" className="good">
        {done === undefined ? null : (
          <>
            {dismissedText(done)} <Did workflow="dismiss-usage-events" by={done.executionId} />
          </>
        )}
      </p>
    </>
  );
}
