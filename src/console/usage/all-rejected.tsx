import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, type Schemas } from '../api/client.ts';
import { newKey } from '../api/new-key.ts';
import { read } from '../api/problem.ts';
import { TryFirst } from '../shown/action.tsx';
import { lackOfReason, Reason } from '../shown/field.tsx';
import { quantityText, sumsText } from '../shown/format.ts';
import { Facts, orNone } from '../shown/values.tsx';
import { filterOf, type EventSearch } from './queries.ts';

type Retried = Schemas['RetryResult'];

/** A key for each preview: what it has shown is done once, however often that is pressed. */
interface Keyed {
  readonly key: string;
}

const header = ({ key }: Keyed) => ({ 'Idempotency-Key': key });

const tryRetry = async (search: EventSearch): Promise<Retried & Keyed> => {
  const body = { ...filterOf(search), dryRun: true };
  return { ...(await read(api.POST('/v1/usage-events/retry', { body }))), key: newKey() };
};

const retryAll = (search: EventSearch, tried: Keyed) =>
  read(
    api.POST('/v1/usage-events/retry', {
      params: { header: header(tried) },
      body: filterOf(search),
    }),
  );

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
const retriedText = ({ retried, rated, rejected }: Retried): string => {
  const parts = [
    ...(rated === '0' ? [] : [`${quantityText(rated)} rated`]),
    ...(rejected === '0' ? [] : [`${quantityText(rejected)} still rejected`]),
  ];
  return retried === '0'
    ? 'Nothing was left to try again.'
    : `${quantityText(retried)} tried again: ${parts.join(', ')}.`;
};

/** Whether trying them again would do nothing: of more than were tried it is not known. */
const isVain = ({ rated, isComplete }: Retried): boolean => rated === '0' && isComplete === true;

/** How many are rejected for each reason. */
const forReasons = (reasons: NonNullable<Retried['reasons']>, text: string) =>
  reasons.map(({ code, events }) => [`${text} ${code}`, quantityText(events)] as const);

/** What would come of it, of the first of them, and why as it is now: the list has what was last tried. */
const Tried = ({ of: tried }: { of: Retried }): ReactNode => {
  const { retried, rated, rejected, sums, reasons = [], isComplete } = tried;
  return (
    <>
      <Facts
        of={[
          ['Would be rated', rated === '0' ? 'none' : quantityText(rated)],
          ...(rated === '0' ? [] : [['What those cost', orNone(sumsText(sums ?? []))] as const]),
          ...(rejected === '0' ? [] : [['Still rejected', quantityText(rejected)] as const]),
          ...forReasons(reasons, 'Still rejected for'),
        ]}
      />
      {isVain(tried) ? (
        <p>None would be rated: mend them first.</p>
      ) : isComplete ? null : (
        <p>Of the first {quantityText(retried)} alone.</p>
      )}
    </>
  );
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
  const [done, setDone] = useState<Retried>();
  const [vain, setVain] = useState<Retried>();
  const isNone = total === '0';
  if (isNone && !done) return null;
  return (
    <>
      <TryFirst
        operation="retryUsageEvents"
        tryName="What trying all again comes to"
        name={total === '1' ? 'Try the event again' : `Try all ${quantityText(total)} again`}
        of={JSON.stringify([filterOf(search), total])}
        lacks={isNone ? 'None is left.' : undefined}
        onTry={async () => {
          const tried = await tryRetry(search);
          setVain(isVain(tried) ? tried : undefined);
          return isVain(tried) ? null : tried;
        }}
        show={(tried) => <Tried of={tried} />}
        onDo={async (tried) => {
          const retried = await retryAll(search, tried);
          // Before the list is read again: without it, this would be gone with what it says.
          setDone(retried);
          return retried;
        }}
        told={retriedText}
      />
      <div role="status">{vain && !isNone ? <Tried of={vain} /> : null}</div>
      <Did workflow="retry-usage" by={done?.executionId} />
    </>
  );
}

type Dismissed = Schemas['EventsDismissed'];

const tryDismissal = async (search: EventSearch, reason: string): Promise<Dismissed & Keyed> => {
  const body = { ...filterOf(search), reason, dryRun: true };
  return { ...(await read(api.POST('/v1/usage-events/dismiss', { body }))), key: newKey() };
};

/** Of what the preview has counted: none that was accepted later. */
const dismissAll = (search: EventSearch, reason: string, { until, ...tried }: Dismissed & Keyed) =>
  read(
    api.POST('/v1/usage-events/dismiss', {
      params: { header: header(tried) },
      body: { ...filterOf(search), reason, ...(until === undefined ? {} : { until }) },
    }),
  );

/** Which events would be dismissed. */
const Preview = ({ of: { dismissed, isComplete, reasons } }: { of: Dismissed }): ReactNode =>
  dismissed === '0' ? (
    <p>There is nothing to dismiss any more.</p>
  ) : (
    <>
      <Facts
        of={[
          ['Events that are dismissed', quantityText(dismissed)],
          ...forReasons(reasons ?? [], 'Rejected for'),
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
          <summary>{total === '1' ? 'Dismiss it' : `Dismiss all ${quantityText(total)}`}</summary>
          <Reason label="Reason, which is kept with each" value={written} onChange={setReason} />
          <TryFirst
            operation="dismissUsageEvents"
            tryName="What dismissing them changes"
            name="Dismiss them"
            isDangerous
            of={JSON.stringify([filterOf(search), reason, total])}
            lacks={lackOfReason(reason)}
            onTry={() => tryDismissal(search, reason)}
            show={(tried) => <Preview of={tried} />}
            onDo={(tried) => dismissAll(search, reason, tried)}
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
