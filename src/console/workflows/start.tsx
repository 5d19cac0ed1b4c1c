import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { ApiProblem } from '../api/problem.ts';
import { membersOf } from '../api/written-json.ts';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Json } from '../shown/json.tsx';
import { DeclaredFields, declaredFields } from './declared-fields.tsx';
import { DryRunResult } from './dry-run.tsx';
import { objectOf } from './editor.tsx';
import { execute, simulate, type DryRun, type Workflow } from './queries.ts';

const JsonField = ({
  label,
  text,
  onChange,
}: {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}): ReactNode => (
  <label className="wide">
    <span>{label}</span>
    <textarea
      className="code"
      rows={3}
      spellCheck={false}
      value={text}
      aria-invalid={objectOf(text) === undefined}
      onChange={({ target }) => onChange(target.value)}
    />
  </label>
);

/** What to do where a text is no JSON object. */
const lackOf = (text: string, of: string): string | undefined =>
  objectOf(text) === undefined ? `Write the ${of} as a JSON object first.` : undefined;

const saying = 'What calls give in a dry run';

/** The tasks whose calls gave null, since nothing was said of what they give; approvals are given. */
const unsaidOf = ({ calls, tasks }: DryRun): readonly string[] => {
  const unsaid = new Set(
    calls.filter(({ isFaked, isUndo }) => !isFaked && !isUndo).map(({ seq }) => seq),
  );
  const names = tasks.filter(({ seq, output }) => unsaid.has(seq) && output === null);
  return [...new Set(names.map(({ name }) => name))];
};

/** What an execution of a workflow of one's own would do; nothing is called. */
function TryDry({ of, input }: { readonly of: Workflow; readonly input: string }): ReactNode {
  const [results, setResults] = useState('{}');
  const [tried, setTried] = useState<{ readonly of: string; readonly run: DryRun }>();
  const asked = `${input} ${results}`;
  const run = tried?.of === asked ? tried.run : undefined;
  const unsaid = run === undefined || run.status === 'completed' ? [] : unsaidOf(run);
  return (
    <>
      <details open={unsaid.length > 0 || undefined}>
        <summary>{saying}</summary>
        <JsonField
          label="What calls give, as JSON by the name of their task"
          text={results}
          onChange={setResults}
        />
        <p>
          <code>{'{"look": {"output": {"id": "1"}}}'}</code>: the task look gives this. Without, a
          call gives null and an approval is given.
        </p>
      </details>
      <Action
        name="Run it dry"
        lacks={lackOf(input, 'input') ?? lackOf(results, 'answers of calls')}
        onDo={async () => ({ of: asked, run: await simulate(of.id, input, results) })}
        onDone={setTried}
        told={({ run }) => `It would be ${run.status}. Nothing was called or written.`}
      />
      {unsaid.length === 0 ? null : (
        <p className="fault">
          It may be for what calls give: nothing was said of <code>{unsaid.join(', ')}</code>, so it
          gave null. Say it above, under “{saying}”.
        </p>
      )}
      {run === undefined ? null : <DryRunResult of={run} />}
    </>
  );
}

/** The same input with `dryRun`, which says that nothing is written. */
const asDryRun = (text: string): string => {
  const isEmpty = membersOf({ json: text }).size === 0;
  return text.replace('{', `{"dryRun":true${isEmpty ? '' : ','}`);
};

/** What was refused of an input, until it is another one. */
interface Refused {
  readonly text: string;
  readonly faults: ApiProblem['fields'];
}
const nothingRefused: Refused = { text: '', faults: [] };

/** The button that starts it, and leads to what it does. */
function Begin({
  of,
  name,
  input,
  lacks,
  onRefused,
}: {
  readonly of: Workflow;
  readonly name: string;
  readonly input: string;
  readonly lacks: string | undefined;
  readonly onRefused: (faults: ApiProblem['fields']) => void;
}): ReactNode {
  const navigate = useNavigate();
  return (
    <Action
      operation="executeWorkflow"
      name={name}
      lacks={lacks}
      onDo={() => execute(of.id, input)}
      onRefused={({ fields }) => onRefused(fields)}
      onDone={({ workflowId, executionId }) =>
        void navigate({
          to: '/workflows/$workflowId/executions/$executionId',
          params: { workflowId, executionId },
          search: {},
        })
      }
    />
  );
}

/**
 * Starts an execution, with a line for each simple member that its input declares, and the same as JSON;
 * what it would do can be seen before.
 */
export function Start({
  of,
  accountId,
  given = '{}',
}: {
  readonly of: Workflow;
  /** Of the account that somebody came from. */
  readonly accountId?: string | undefined;
  /** An input to begin with. */
  readonly given?: string | undefined;
}): ReactNode {
  const fields = membersOf(membersOf(of.dataSchema).get('properties') ?? { json: '{}' });
  const isOfAccount = accountId !== undefined && fields.has('account_id');
  const [text, setText] = useState(isOfAccount ? JSON.stringify({ account_id: accountId }) : given);
  // While it is typed it may be no JSON: what is read of it is the last that was an object.
  const [object, setObject] = useState(text);
  const [refused, setRefused] = useState<Refused>(nothingRefused);
  const change = (typed: string): void => {
    setText(typed);
    if (objectOf(typed) !== undefined) setObject(typed);
  };
  const lack = lackOf(text, 'input');
  const canSayDry = of.definition === undefined && fields.has('dryRun');
  const begin = (name: string, input: string, lacks: string | undefined): ReactNode => (
    <Begin
      of={of}
      name={name}
      input={input}
      lacks={lacks}
      onRefused={(faults) => setRefused({ text, faults })}
    />
  );
  const saysDry = membersOf({ json: object }).has('dryRun');
  const declared = declaredFields(of.dataSchema);
  // Whether it is a dry run a button says.
  const asked = declared.fields.filter(({ name }) => !canSayDry || name !== 'dryRun');
  const json = <JsonField label="Input, as JSON" text={text} onChange={change} />;
  return (
    <Section title="Execute">
      {asked.length === 0 ? null : (
        <DeclaredFields
          fields={asked}
          text={object}
          faults={refused.text === text ? refused.faults : nothingRefused.faults}
          isDisabled={object !== text}
          onChange={change}
        />
      )}
      {of.definition === undefined && declared.isAll ? (
        <details>
          <summary>The same as JSON</summary>
          {json}
        </details>
      ) : (
        json
      )}
      {of.definition === undefined ? null : <TryDry of={of} input={text} />}
      {canSayDry
        ? begin(
            'Run it dry',
            lack === undefined ? asDryRun(text) : text,
            lack ?? (saysDry ? 'The input says already whether it is dry.' : undefined),
          )
        : null}
      {begin('Execute', text, lack)}
      <details>
        <summary>What the input may have</summary>
        <Json of={of.dataSchema} />
      </details>
    </Section>
  );
}
