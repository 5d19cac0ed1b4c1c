import { raw } from 'objection';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import type { ExecutionStatus, FlowFailure, FlowOutcome } from '../../messages/flow-run.js';
import { mapInPortions } from '../../kernel/portions.js';
import { asWritten, parseStoredJson } from '../../kernel/text/json.js';
import { parseStoredInPortions } from '../../kernel/text/json-portions.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { readRetention } from '../../models/access/retention-rule.js';
import { Execution } from '../../models/flows/execution.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { listHeavyPage, type RowWeight } from '../lists/listing.js';
import { storedWeight } from '../lists/page-bytes.js';
import { sqlRows } from '../../models/db/sql-rows.js';

interface EndRow {
  readonly id: string;
  readonly status: string;
  /** JSON as text: numbers keep all their digits. */
  readonly output: string | null;
  readonly error: string | null;
}

/** JSON as it was written; with its keys sorted where an earlier release wrote it. */
const outputText = `case when output is not null then
  coalesce(case when error is null then answer::text end, output::text) end`;
const errorText = 'case when error is not null then coalesce(answer::text, error::text) end';

/** The outcome of an execution that has ended. */
function outcomeOf({ status, output, error }: EndRow): FlowOutcome {
  if (status === 'completed') return { ok: true, output: parseStoredJson(output ?? 'null') };
  const failure = error === null ? undefined : parseStoredJson(error);
  return {
    ok: false,
    failure: (failure as FlowFailure | undefined) ?? {
      kind: 'conflict',
      message: `The execution is ${status}.`,
      details: {},
    },
  };
}

/**
 * How executions ended, by their ids; those that run, or that nothing is known of, are left out. Outputs are
 * read in the order of the ids until they have so many bytes; further ones are null. One after the other, so
 * that no more is read than is told; each id is a column before it is compared, without which row-level
 * security keeps it from the key (docs/decisions/0078).
 */
export async function findFlowOutcomes(
  { db, tenantId }: Scope,
  executionIds: readonly string[],
  outputBytesMax: number,
): Promise<ReadonlyMap<string, FlowOutcome>> {
  const rows = await sqlRows<EndRow>(
    db.read,
    `with recursive told as (
       select 0 as place, (:ids::uuid[])[1] as next_id, 0::bigint as bytes,
         null::uuid as id, null::text as status, null::text as output, null::text as error
       union all
       select place + 1, (:ids::uuid[])[place + 2], bytes + coalesce(octet_length(ended.output), 0),
         ended.id, ended.status, ended.output, ended.error
       from told left join lateral (
         select id, status, case when bytes < :outputBytesMax then ${outputText} end as output,
           ${errorText} as error
         from execution
         where tenant_id = :tenantId and id = told.next_id and status <> 'running'
       ) as ended on true
       where next_id is not null
     )
     select id, status, output, error from told where id is not null`,
    { tenantId, ids: arrayLiteral(executionIds), outputBytesMax },
  );
  const outcomes = await mapInPortions(rows, (row) => [row.id, outcomeOf(row)] as const);
  return new Map(outcomes);
}

/** How an execution ended; `undefined` while it runs, or when nothing is known of it. */
export async function findFlowOutcome(
  { db, tenantId }: Scope,
  executionId: string,
): Promise<FlowOutcome | undefined> {
  const [row] = await sqlRows<EndRow>(
    db.read,
    `select id, status, ${outputText} as output, ${errorText} as error
     from execution where tenant_id = ? and id = ? and status <> 'running'`,
    [tenantId, executionId],
  );
  return row && outcomeOf(row);
}

/** Whether the latest execution under a workflow id has ended, as far as the database knows. */
export async function hasEnded({ db, tenantId }: Scope, workflowId: string): Promise<boolean> {
  const latest = await Execution.query(db.read)
    .forTenant(tenantId)
    .select('status')
    .where({ workflowId })
    .orderBy('startedAt', 'desc')
    .first();
  return latest !== undefined && latest.status !== 'running';
}

/** An execution with its JSON, numbers exact. */
export interface ExecutionRecord {
  readonly id: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly status: ExecutionStatus;
  readonly actor: string | null;
  /** Of the request that started it, or of what did so by itself. */
  readonly requestId: string | null;
  readonly startedAt: Date;
  readonly completedAt: Date | null;
  readonly input: Record<string, unknown> | null;
  readonly output: Record<string, unknown> | null;
  readonly error: FlowFailure | null;
}

/** An execution as it is shown; of a list with JSON as it was written, since parsed it has twenty times as much in memory. */
export interface ShownExecution extends Omit<ExecutionRecord, 'input'> {
  /** What it was started with: of a tenant's workflow, its input. */
  readonly input: Record<string, unknown> | null;
  /** Of a tenant's workflow. */
  readonly version: number | null;
}

/** An execution that was read whole, as it is shown. */
export function shownExecution({ input, ...record }: ExecutionRecord): ShownExecution {
  const { version = null, start = null } = (input ?? {}) as Partial<DefinitionInput>;
  return { ...record, input: start ?? input, version };
}

/** An execution as it is read: its JSON as text, so that numbers keep all their digits. */
type ExecutionTexts = Execution & {
  readonly inputText: string | null;
  readonly outputText: string | null;
  readonly errorText: string | null;
};

const parsed = async <T>(text: string | null): Promise<T | null> =>
  text === null ? null : ((await parseStoredInPortions(text)) as T);

const columnsOf = (row: Execution) => {
  const { id, workflowId, runId, status, actor, requestId, startedAt, completedAt } = row;
  return { id, workflowId, runId, status, actor, requestId, startedAt, completedAt };
};

async function presentExecution(row: Execution): Promise<ExecutionRecord> {
  const { inputText, outputText, errorText } = row as ExecutionTexts;
  return {
    ...columnsOf(row),
    input: await parsed(inputText),
    output: await parsed(outputText),
    error: await parsed<FlowFailure>(errorText),
  };
}

/** `input` and `output` are SQL of what is read in their places. */
function executionsOf(
  { db, tenantId }: Scope,
  workflow: string,
  { input = 'input::text', output = outputText } = {},
) {
  return Execution.query(db.read)
    .forTenant(tenantId)
    .where({ workflow })
    .select('id', 'workflowId', 'runId', 'status', 'actor', 'requestId')
    .select('startedAt', 'completedAt')
    .select(
      raw(`${input} as "input_text"`),
      raw(`${output} as "output_text"`),
      raw(`${errorText} as "error_text"`),
    );
}

const executionWeight = (...columns: readonly string[]): RowWeight<Execution> => ({
  sql: storedWeight('input', 'error', ...columns),
  bytesOf: (row) => {
    const { inputText, outputText, errorText } = row as ExecutionTexts;
    return [inputText, outputText, errorText].reduce((sum, text) => sum + (text?.length ?? 0), 0);
  },
});

/** SQL of which executions are listed, and what of them. */
interface CountedExecutions {
  /** What else holds of them. */
  readonly where?: string | undefined;
  /** A few values of the output, as JSON, in its place: outputs are long. */
  readonly output: string;
}

const latestFirst = [
  { column: 'startedAt', order: 'desc' },
  { column: 'id', order: 'desc' },
] as const;

type ShownTexts = ExecutionTexts & { readonly versionText: string | null };

async function presentShown(row: Execution): Promise<ShownExecution> {
  const { inputText, outputText, errorText, versionText } = row as ShownTexts;
  return {
    ...columnsOf(row),
    input: inputText === null ? null : asWritten(inputText),
    output: outputText === null ? null : asWritten(outputText),
    error: await parsed<FlowFailure>(errorText),
    version: versionText === null ? null : Number(versionText),
  };
}

/** One page of the executions of a workflow, the latest first. */
export async function listExecutions(
  scope: Scope,
  workflow: string,
  status: ExecutionStatus | undefined,
  page: PageRequest,
): Promise<Listed<ShownExecution>> {
  const start = `coalesce(nullif(input -> 'start', 'null'), input)::text`;
  const query = executionsOf(scope, workflow, { input: start })
    .select(
      raw(`case when input -> 'start' is not null then input ->> 'version' end as "version_text"`),
    )
    .orderBy([...latestFirst]);
  if (status !== undefined) void query.where({ status });
  return listHeavyPage(query, page, presentShown, executionWeight('output', 'answer'));
}

/** One page of the executions of a workflow, the latest first, with a few values of their outputs. */
export async function listCountedExecutions(
  scope: Scope,
  workflow: string,
  page: PageRequest,
  { where, output }: CountedExecutions,
): Promise<Listed<ExecutionRecord>> {
  const query = executionsOf(scope, workflow, { output }).orderBy([...latestFirst]);
  if (where !== undefined) void query.whereRaw(where);
  return listHeavyPage(query, page, presentExecution, executionWeight());
}

/** The message says what retention has removed: the execution may have been among it. */
async function noExecution({ db, tenantId }: Scope, id: string): Promise<Problem> {
  const rules = await readRetention(db.read, tenantId);
  const before = rules.find(({ kind }) => kind === 'executions')?.removedBefore;
  const gone = before
    ? ` Those that ended before ${before.toISOString()} were removed by retention.`
    : '';
  return problem.notFound(`There is no execution '${id}'.${gone}`);
}

/**
 * An execution of a workflow; `output` is SQL of what is read of its output, which may be long, in its place. 404:
 * there is none.
 */
export async function getExecution(
  scope: Scope,
  workflow: string,
  id: string,
  output?: string,
): Promise<ExecutionRecord> {
  const read = executionsOf(scope, workflow, output === undefined ? {} : { output });
  const execution = await read.findById(id);
  if (!execution) throw await noExecution(scope, id);
  return presentExecution(execution);
}

/** Whether an execution is one of this workflow. */
export const isExecutionOf = async (
  { db, tenantId }: Scope,
  workflow: string,
  id: string,
): Promise<boolean> => {
  const query = Execution.query(db.read).forTenant(tenantId).select('id').where({ workflow });
  return (await query.findById(id)) !== undefined;
};

/** Executions of a workflow that run, in the order of their ids, after one of them. */
export const listRunning = (
  { db, tenantId }: Scope,
  workflow: string,
  limit: number,
  afterId?: string,
): Promise<Pick<Execution, 'id' | 'workflowId' | 'runId'>[]> => {
  const query = Execution.query(db.read)
    .forTenant(tenantId)
    .select('id', 'workflowId', 'runId')
    .where({ workflow, status: 'running' });
  if (afterId !== undefined) void query.where('id', '>', afterId);
  return query.orderBy('id').limit(limit).execute();
};
