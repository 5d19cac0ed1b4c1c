import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { linesOf, type Written } from '../api/written-json.ts';
import { Json } from '../shown/json.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { Facts, Instant, orNone, Status } from '../shown/values.tsx';
import { Editor, objectOf, useFaults } from './editor.tsx';
import {
  diagram,
  execute,
  executionList,
  executionsSize,
  publish,
  workflow,
  type Execution,
  type Workflow,
} from './queries.ts';

const route = getRouteApi('/workflows/$workflowId');

/** The definition as text, and a new version of it. */
function DefinitionText({
  of,
  definition,
}: {
  readonly of: Workflow;
  readonly definition: Written;
}): ReactNode {
  const published = linesOf(definition);
  const [changed, setChanged] = useState<string>();
  const text = changed ?? published;
  const check = useFaults(text);
  return (
    <>
      <Editor text={text} onChange={setChanged} check={check} />
      <Action
        name={`Publish version ${Number(of.version) + 1}`}
        isPrimary
        isDisabled={!check.isValid || text === published}
        onDo={() => publish(of.id, text)}
        onDone={() => setChanged(undefined)}
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

const versionColumns: readonly Column<Version>[] = [
  { name: 'Version', show: ({ version }) => version },
  { name: 'Published', show: ({ createdAt }) => <Instant at={createdAt} /> },
  { name: 'By', show: ({ publishedBy }) => <bdi>{publishedBy}</bdi> },
  { name: 'Hash', show: ({ hash }) => <code>{hash.slice(0, 12)}</code> },
];

const executionColumns: readonly Column<Execution>[] = [
  {
    name: 'Execution',
    show: ({ workflowId, executionId, startedAt }) => (
      <Link
        to="/workflows/$workflowId/executions/$executionId"
        params={{ workflowId, executionId }}
      >
        <Instant at={startedAt} />
      </Link>
    ),
  },
  { name: 'Status', show: ({ status }) => <Status name={status} /> },
  { name: 'By', show: ({ actor }) => <bdi>{orNone(actor)}</bdi> },
  { name: 'Ended', show: ({ completedAt }) => <Instant at={completedAt} /> },
  { name: 'Fault', show: ({ error }) => <bdi>{orNone(error?.message)}</bdi> },
];

function Executions({ workflowId }: { readonly workflowId: string }): ReactNode {
  const { page = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(executionList(workflowId, page));
  return (
    <Loaded query={query}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          <Empty>
            <p>It was not executed yet.</p>
          </Empty>
        ) : (
          <>
            <DataTable
              caption="Executions, the latest first"
              columns={executionColumns}
              rows={data}
              keyOf={({ executionId }) => executionId}
            />
            <Pager
              name="executions"
              first={page * executionsSize}
              shown={data.length}
              total={String(pagination.total)}
              onMove={(by) => void navigate({ search: { page: page + by } })}
            />
          </>
        )
      }
    </Loaded>
  );
}

/** Starts an execution, with the input as JSON. */
function Start({ of }: { readonly of: Workflow }): ReactNode {
  const [text, setText] = useState('{}');
  const navigate = useNavigate();
  const isObject = objectOf(text) !== undefined;
  return (
    <Section title="Execute">
      <label className="wide">
        <span>Input, as JSON</span>
        <textarea
          className="code"
          rows={3}
          spellCheck={false}
          value={text}
          aria-invalid={!isObject}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Action
        name="Execute"
        isDisabled={!isObject}
        onDo={() => execute(of.id, text)}
        onDone={({ workflowId, executionId }) =>
          void navigate({
            to: '/workflows/$workflowId/executions/$executionId',
            params: { workflowId, executionId },
          })
        }
      />
      <details>
        <summary>What the input may have</summary>
        <Json of={of.dataSchema} />
      </details>
    </Section>
  );
}

/** A workflow: what it is, what it was, and what it has done. */
export function WorkflowPage(): ReactNode {
  const { workflowId } = route.useParams();
  const query = useQuery(workflow(workflowId));
  const title = query.data?.title ?? 'Workflow';
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
            <Section title="Executions">
              <Executions workflowId={found.id} />
            </Section>
            <Start of={found} />
            {found.definition === undefined ? null : (
              <Section title="Definition">
                <Diagram of={found} />
                <DefinitionText of={found} definition={found.definition} />
              </Section>
            )}
            {found.versions === undefined ? null : (
              <Section title="Versions">
                <DataTable
                  caption="Versions, the newest first"
                  columns={versionColumns}
                  rows={found.versions}
                  keyOf={({ version }) => String(version)}
                />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}
