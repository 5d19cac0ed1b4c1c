import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { quantityText, sumsText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName, ActorName, ServiceName } from '../shown/names.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { Figures } from './figures.tsx';
import { rerate, rerating, type Rerated, type Rerating, type Wanted } from './queries.ts';

const route = getRouteApi('/usage/rate-again/$executionId');

/** A day where it is the midnight of one, else the instant. */
const timeText = (at: string): string => at.replace(/T00:00:00(?:\.000)?Z$/, '');

const WhatItIs = ({ of }: { readonly of: Rerating }): ReactNode => (
  <Facts
    of={[
      ['Status', <Status key="status" name={of.status} />],
      [
        'Of',
        of.input?.accountId ? (
          <AccountName key="account" accountId={of.input.accountId} />
        ) : (
          'all accounts'
        ),
      ],
      [
        'Service',
        of.input?.serviceId ? <ServiceName key="service" serviceId={of.input.serviceId} /> : 'all',
      ],
      ['Why', <bdi key="reason">{orNone(of.input?.reason)}</bdi>],
      ['By', <ActorName key="by" actor={of.actor} />],
      ['Began', <Instant key="began" at={of.startedAt} />],
      ['Ended', <Instant key="ended" at={of.completedAt} />],
      [
        'Steps',
        <Link
          key="execution"
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: 'rerate-usage', executionId: of.executionId }}
        >
          its execution
        </Link>,
      ],
    ]}
  />
);

/** What follows from the differences, and the button that makes them. */
function DoIt({ wanted }: { readonly wanted: Wanted }): ReactNode {
  const navigate = route.useNavigate();
  return (
    <>
      <p>
        What was invoiced stands. What an account pays less or more is an item of its next invoice,
        which names the invoice that it corrects; what is owed to an account waits until something
        is billed. No credit note is made by itself: one beside the correction would give the same
        back twice.
      </p>
      <Action
        operation="executeWorkflow"
        name="Rate it again"
        isPrimary
        onDo={() => rerate(wanted, false)}
        onDone={({ executionId }) =>
          void navigate({ to: '/usage/rate-again/$executionId', params: { executionId } })
        }
      />
    </>
  );
}

/** What it came to, or would; a dry run is followed by the correction itself. */
function Outcome({
  of,
  input,
}: {
  readonly of: Rerated;
  readonly input: Rerating['input'];
}): ReactNode {
  const isSame = of.changed === '0';
  return (
    <>
      <Facts
        of={[
          ['Events', quantityText(of.events)],
          ['That come out different', quantityText(of.changed)],
          ['Before', orNone(sumsText(of.before))],
          ['After', orNone(sumsText(of.after))],
        ]}
      />
      {isSame ? (
        <Empty>
          <p>
            {of.events === '0'
              ? 'Nothing was rated in this time.'
              : 'No charge comes out different: there is nothing to correct.'}
          </p>
        </Empty>
      ) : null}
      <Figures of={of} />
      {input?.dryRun === true && !isSame ? (
        <DoIt wanted={input} />
      ) : of.correctionId === null ? null : (
        <p>
          <Link
            to="/usage/corrections/$correctionId"
            params={{ correctionId: of.correctionId }}
            search={{}}
          >
            Each charge before and after
          </Link>
        </p>
      )}
    </>
  );
}

const titleOf = ({ input }: Rerating): string =>
  input === null
    ? 'Rating again'
    : `${input.dryRun ? 'Dry run: rating' : 'Rating'} ${timeText(input.from)} to before ${timeText(input.to)} again`;

/** Usage rated again: what came of it, and of a dry run what would. */
export function ReratingPage(): ReactNode {
  const { executionId } = route.useParams();
  const query = useQuery(rerating(executionId));
  const title = query.data ? titleOf(query.data) : 'Rating again';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="usage" to="/usage" search={{}}>
              Usage
            </Link>,
            <Link key="corrections" to="/usage/corrections" search={{}}>
              Corrections
            </Link>,
            <Link key="again" to="/usage/rate-again" search={{}}>
              Rate again
            </Link>,
            title,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(found) => (
          <>
            <WhatItIs of={found} />
            {found.status === 'running' ? <p role="status">It runs.</p> : null}
            {found.error === null ? null : (
              <div className="fault">
                <p>
                  <strong>It failed: {found.error.code}</strong>
                </p>
                <p>{found.error.message}</p>
              </div>
            )}
            {found.status === 'completed' && found.output !== null ? (
              <Outcome of={found.output} input={found.input} />
            ) : null}
          </>
        )}
      </Loaded>
    </Page>
  );
}
