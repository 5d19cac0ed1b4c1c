import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Changes } from '../audit/changes.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { ApiProblem } from '../api/problem.ts';
import { linesOf, type Written } from '../api/written-json.ts';
import { Loaded } from '../shown/loaded.tsx';
import { ActorName } from '../shown/names.tsx';
import { Facts, Instant } from '../shown/values.tsx';
import { Editor, lackOf, useFaults } from './editor.tsx';
import { Executions } from './executions.tsx';
import { diagram, execution, publish, workflow, type Workflow } from './queries.ts';
import { Start } from './start.tsx';

const route = getRouteApi('/workflows/$workflowId');

/** The number of the version that executions begin with. */
const liveVersion = ({ version, versions }: Workflow): string | null =>
  versions?.[0]?.version ?? version;
const isLive = (of: Workflow): boolean => of.version === liveVersion(of);

/** The definition as text, and a new version of it. */
function DefinitionText({
  of,
  definition,
}: {
  readonly of: Workflow;
  readonly definition: Written;
}): ReactNode {
  const published = linesOf(definition);
  const client = useQueryClient();
  const live = liveVersion(of) ?? '';
  /** With the version that was live when it was begun: somebody else may publish meanwhile. */
  const [changed, setChanged] = useState<{ readonly text: string; readonly basedOn?: string }>();
  const { text, basedOn = live } = changed ?? { text: published };
  const check = useFaults(text);
  return (
    <>
      <Editor
        text={text}
        onChange={(typed) => setChanged({ text: typed, basedOn })}
        check={check}
      />
      <Action
        operation="updateWorkflow"
        name={`Publish version ${Number(basedOn) + 1}`}
        isPrimary
        lacks={lackOf(check) ?? (isLive(of) && text === published ? 'Change it first.' : undefined)}
        onDo={() => publish(of.id, text, basedOn)}
        onDone={() => setChanged(undefined)}
        // Who is told of another version, and has read it, may publish after it.
        onRefused={({ status }) => {
          if (status !== 409) return;
          setChanged({ text });
          void client.invalidateQueries();
        }}
        told={({ version }) => `Version ${version} is live; what runs keeps its own.`}
      />
    </>
  );
}

function Diagram({ of }: { readonly of: Workflow }): ReactNode {
  const { data } = useQuery(diagram(of.id, String(of.version)));
  return data ? (
    <figure className="diagram">
      <img
        src={data}
        alt={`The tasks of ${of.title} in their order; the definition has them as text`}
      />
    </figure>
  ) : null;
}

type Version = NonNullable<Workflow['versions']>[number];

/** The versions of a workflow, each with the way to its definition. */
function Versions({ of: { id, versions = [] } }: { readonly of: Workflow }): ReactNode {
  const columns: readonly Column<Version>[] = [
    {
      name: 'Version',
      show: ({ version }) => (
        <Link to="/workflows/$workflowId" params={{ workflowId: id }} search={{ version }}>
          Version {version}
        </Link>
      ),
    },
    { name: 'Published', show: ({ createdAt }) => <Instant at={createdAt} /> },
    { name: 'By', show: ({ publishedBy }) => <ActorName actor={publishedBy} /> },
    { name: 'Hash', show: ({ hash }) => <code>{hash.slice(0, 12)}</code> },
  ];
  return (
    <DataTable
      caption="Versions, the newest first"
      columns={columns}
      rows={versions}
      keyOf={({ version }) => version}
    />
  );
}

/** Another version than the one that is live, and what of it is otherwise there. */
function Earlier({ of }: { readonly of: Workflow }): ReactNode {
  const live = useQuery(workflow(of.id));
  return (
    <>
      <p>
        This is version {of.version}.{' '}
        <Link to="/workflows/$workflowId" params={{ workflowId: of.id }} search={{}}>
          Show the one that is live
        </Link>
        ; published again, this one is live anew.
      </p>
      <Loaded query={live}>
        {({ definition }) => (
          <Changes
            before={of.definition ?? null}
            after={definition ?? null}
            areOthersShown={false}
          />
        )}
      </Loaded>
    </>
  );
}

/** When a condition on an event could not be evaluated last, and why. */
const ConditionFault = ({
  of,
}: {
  readonly of: NonNullable<Workflow['conditionFault']>;
}): ReactNode => (
  <div className="fault">
    <p>
      <strong>Its condition on {of.event} could not be evaluated</strong>
    </p>
    <p>
      <Instant at={of.at} />, version {of.version}: {of.reason}
    </p>
  </div>
);

/** What has executions and is no workflow that could be shown, or none any more. */
const ExecutionsAlone = ({
  of,
  again,
}: {
  readonly of: string;
  /** The execution that somebody wants to repeat. */
  readonly again: string | undefined;
}): ReactNode => (
  <>
    {again === undefined ? null : (
      <p role="alert">
        It cannot be executed again: its workflow was deleted. Its input stands on{' '}
        <Link
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: of, executionId: again }}
          search={{}}
        >
          the page of the execution
        </Link>
        .
      </p>
    )}
    <p>
      Nothing is executed by this name: an operation of its own starts it, or it was deleted. What
      it has done stays.
    </p>
    <Section title="Executions">
      <Executions workflowId={of} />
    </Section>
  </>
);

/** The form that starts it, filled in for an account or as an execution of before had it. */
function StartAsAsked({ of }: { readonly of: Workflow }): ReactNode {
  const { account, again } = route.useSearch();
  return again === undefined ? (
    <Start of={of} accountId={account} />
  ) : (
    <StartAgain of={of} executionId={again} />
  );
}

function StartAgain({ of, executionId }: { readonly of: Workflow; readonly executionId: string }) {
  const query = useQuery(execution(of.id, executionId));
  return (
    <Loaded query={query}>
      {({ input }) => <Start key={executionId} of={of} given={input?.json} />}
    </Loaded>
  );
}

/** A workflow: what it is, what it was, and what it has done. */
export function WorkflowPage(): ReactNode {
  const { workflowId } = route.useParams();
  const { version, again } = route.useSearch();
  const query = useQuery(workflow(workflowId, version));
  const title = query.data?.title ?? 'Workflow';
  const isGone = query.error instanceof ApiProblem && query.error.status === 404;
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="workflows" to="/workflows">
              Workflows
            </Link>,
            <bdi key="workflow">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      {isGone ? (
        <ExecutionsAlone of={workflowId} again={again} />
      ) : (
        <Loaded query={query}>
          {(found) => (
            <>
              <p>
                <bdi>{found.description}</bdi>
              </p>
              <Facts
                of={[
                  ['Name', <code key="name">{found.name}</code>],
                  ['Version', found.version === null ? 'built in' : String(found.version)],
                ]}
              />
              {found.conditionFault ? <ConditionFault of={found.conditionFault} /> : null}
              {isLive(found) ? (
                <>
                  <Section title="Executions">
                    <Executions workflowId={found.id} />
                  </Section>
                  <StartAsAsked of={found} />
                </>
              ) : null}
              {found.definition === undefined ? null : (
                <Section title="Definition">
                  {isLive(found) ? <Diagram of={found} /> : <Earlier of={found} />}
                  <DefinitionText
                    key={version ?? 'live'}
                    of={found}
                    definition={found.definition}
                  />
                </Section>
              )}
              {found.versions === undefined ? null : (
                <Section title="Versions">
                  <Versions of={found} />
                </Section>
              )}
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}
