import type { Knex } from 'knex';
import type { ExecutionStatus, FlowFailure, FlowRun } from '../../messages/flow-run.js';
import { recordedAs } from '../../messages/definitions/definition-run.js';
import { parseStoredJson, stringifyJson } from '../../kernel/text/json.js';
import { stringifyJsonInPortions } from '../../kernel/text/json-write-portions.js';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';
import { TenantModel } from '../db/tenant-model.js';
import { writeBehind } from '../db/write-behind.js';
import { sqlRows } from '../db/sql-rows.js';

/** Where Temporal runs an execution. */
export interface TemporalRun {
  readonly workflow: string;
  readonly workflowId: string;
  readonly runId: string;
}

/** The state of an execution when one of its steps begins. */
export interface BegunStep {
  readonly status: ExecutionStatus;
  /** The result of this step, if it was committed before; `undefined` when it was not. */
  readonly done: { readonly result: unknown } | undefined;
}

/** A run of a workflow that counts what its transactions do. */
export interface CountingRun {
  readonly workflow: string;
  readonly workflowId: string;
  /** Temporal's run id, which is a UUID: also the id of the execution. */
  readonly runId: string;
  readonly actor: string;
  readonly input: object;
  /** Counts; those of several transactions of one run are summed. */
  readonly output: Readonly<Record<string, number>>;
  readonly startedAt: Date;
  /** Null: there is more to be done. */
  readonly completedAt: Date | null;
}

/** A run that counts, and ended before it was done. */
export interface EndedCount extends Omit<CountingRun, 'input' | 'output' | 'completedAt'> {
  /** Null where only Temporal has it. */
  readonly input: object | null;
  readonly status: ExecutionStatus;
  readonly failure: FlowFailure | undefined;
}

/** The end of an item of a batch. */
export interface EndedItem {
  readonly id: string;
  /** The id of the batch's workflow, and its place: `<workflow id>#<index>`. */
  readonly workflowId: string;
  readonly status: 'completed' | 'failed';
  readonly input: object;
  readonly output: unknown;
  readonly error: FlowFailure | null;
  /** The error, else the output, as JSON. */
  readonly answer: string;
}

/** Inserts an execution. Missing times are now; one that is running gets no end. */
const insertSql = `
  insert into execution (tenant_id, id, run_id, workflow, workflow_id, actor, request_id, status,
    input, output, error, answer, started_at, completed_at)
  values (:tenantId, :id, :runId, :workflow, :workflowId, :actor, :requestId, :status,
    :input, :output, :error, :answer, coalesce(:startedAt::timestamptz, now()),
    coalesce(:completedAt::timestamptz, case when :status::text <> 'running' then clock_timestamp() end))`;

const itemTable = new BulkTable<{
  readonly id: string;
  readonly runId: string;
  readonly workflow: string;
  readonly workflowId: string;
  readonly actor: string;
  readonly requestId: string;
  readonly status: string;
  readonly input: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly answer: string | null;
  readonly startedAt: Date;
  readonly completedAt: Date;
}>('execution', {
  id: 'uuid',
  runId: 'text',
  workflow: 'text',
  workflowId: 'text',
  actor: 'text',
  requestId: 'text',
  status: 'text',
  input: 'jsonb',
  output: 'jsonb',
  error: 'jsonb',
  answer: 'json',
  startedAt: 'timestamptz',
  completedAt: 'timestamptz',
});

const unended = { output: null, error: null, answer: null, startedAt: null, completedAt: null };

const runningRow = async (run: FlowRun, place: TemporalRun) => ({
  ...place,
  workflow: recordedAs(place.workflow, run.input),
  ...unended,
  tenantId: run.tenantId,
  id: run.executionId,
  actor: run.actor,
  requestId: run.requestId,
  status: 'running',
  input: await stringifyJsonInPortions(run.input, { isUneven: true }),
});

/** A run of a workflow, kept when Temporal has long forgotten it. */
export class Execution extends TenantModel {
  static override tableName = 'execution';
  static override jsonAttributes = ['input', 'output', 'error', 'steps'];

  declare workflow: string;
  declare workflowId: string;
  declare runId: string;
  declare status: ExecutionStatus;
  declare requestId: string | null;
  declare actor: string | null;
  declare input: object | null;
  declare output: object | null;
  declare error: object | null;
  declare startedAt: Date;
  declare completedAt: Date | null;

  /** Adds the counts of a transaction to a run; returns the sums so far. */
  static async addCounts(
    trx: Knex,
    tenantId: string,
    run: CountingRun,
  ): Promise<Readonly<Record<string, number>>> {
    const { sql, bindings } = Execution.addingCounts(tenantId, run);
    const rows = await sqlRows<{ output: Record<string, number> }>(trx, sql, bindings);
    return rows[0]?.output ?? run.output;
  }

  /** The statement that does so. */
  static addingCounts(tenantId: string, run: CountingRun): BulkStatement {
    const { input, output, ...columns } = run;
    return {
      sql: `${insertSql}
       on conflict (tenant_id, workflow_id, run_id) do update set
         status = case execution.status when 'running' then excluded.status
           else execution.status end,
         input = coalesce(execution.input, excluded.input),
         completed_at = coalesce(excluded.completed_at, execution.completed_at),
         output = (
           select jsonb_object_agg(
             key, value::numeric + coalesce((execution.output ->> key)::numeric, 0))
           from jsonb_each_text(excluded.output)
         )
       returning output`,
      bindings: {
        ...columns,
        ...unended,
        tenantId,
        id: run.runId,
        requestId: null,
        status: run.completedAt === null ? 'running' : 'completed',
        input: JSON.stringify(input),
        output: JSON.stringify(output),
        startedAt: run.startedAt,
        completedAt: run.completedAt,
      },
    };
  }

  /** Ends a run that counts, before it was done; what it has counted, if anything, stays. */
  static async endCounted(
    db: Knex,
    tenantId: string,
    { input, failure, ...columns }: EndedCount,
  ): Promise<void> {
    await sqlRows(
      db,
      `${insertSql}
       on conflict (tenant_id, workflow_id, run_id) do update set status = excluded.status,
         error = excluded.error, completed_at = excluded.completed_at
       where execution.status = 'running'`,
      {
        ...unended,
        ...columns,
        tenantId,
        id: columns.runId,
        requestId: null,
        input: input === null ? null : stringifyJson(input),
        error: failure === undefined ? null : stringifyJson(failure),
      },
    );
  }

  /** Adds to what a flow has counted so far, in the transaction of a step. */
  static async addProgress(
    trx: Knex,
    tenantId: string,
    id: string,
    name: string,
    added: number,
  ): Promise<void> {
    await trx.raw(
      `update execution set output = jsonb_build_object(?::text,
         coalesce((output ->> ?)::numeric, 0) + ?)
       where tenant_id = ? and id = ?`,
      [name, name, added, tenantId, id],
    );
  }

  /** Keeps what lists tell of an output that may be long, so that they need not read it. */
  static async keepCounts(trx: Knex, tenantId: string, id: string, counts: object): Promise<void> {
    await trx.raw('update execution set counts = ?::jsonb where tenant_id = ? and id = ?', [
      JSON.stringify(counts),
      tenantId,
      id,
    ]);
  }

  /**
   * Records that a flow runs, and locks its row until the transaction ends: steps run one after the
   * other, and a retried step finds the stored result of its first attempt. In a completed
   * execution only the last step can be retried; its stored result is returned.
   */
  static async begin(
    trx: Knex,
    run: FlowRun,
    place: TemporalRun,
    step: string,
  ): Promise<BegunStep> {
    const rows = await sqlRows<{ status: ExecutionStatus; result: string | null }>(
      trx,
      `${insertSql}
       on conflict (tenant_id, id) do update set run_id = excluded.run_id
       returning status, case when steps -> :step is not null then
         case when status = 'completed' then coalesce(answer::text, (steps -> :step)::text)
           else (steps -> :step)::text end end as result`,
      { ...(await runningRow(run, place)), step },
      'begin a step',
    );
    const [row] = rows;
    const text = row?.result ?? null;
    return {
      status: row?.status ?? 'running',
      done: text === null ? undefined : { result: parseStoredJson(text) },
    };
  }

  /**
   * Records the start of a flow, so that the execution can be read before its first step has run;
   * whether it was not recorded before.
   */
  static async start(db: Knex, run: FlowRun, place: TemporalRun): Promise<boolean> {
    const rows = await sqlRows<object>(
      db,
      `${insertSql} on conflict (tenant_id, id) do nothing returning id`,
      await runningRow(run, place),
    );
    return rows.length > 0;
  }

  /**
   * Stores the result of a step in the step's transaction; the last one's is the output. It is not waited for:
   * a step that cannot be stored fails when it is committed.
   */
  static async endStep(
    trx: Knex.Transaction,
    run: FlowRun,
    step: string,
    result: unknown,
    isLast: boolean,
  ): Promise<void> {
    const text = await stringifyJsonInPortions(result ?? null, { isUneven: true });
    await writeBehind(
      trx,
      isLast ? 'end of a flow' : 'end of a step',
      `update execution set steps = jsonb_set(steps, array[$3], $4::text::jsonb)
         ${isLast ? `, status = 'completed', completed_at = clock_timestamp(), output = $4::text::jsonb, answer = $4::text::json` : ''}
       where tenant_id = $1 and id = $2`,
      [run.tenantId, run.executionId, step, text],
    );
  }

  /** Puts what is shown in the place of what an execution of a tenant's workflow was given. */
  static async rewriteInput(
    trx: Knex,
    tenantId: string,
    id: string,
    shownOf: (start: unknown) => Promise<unknown>,
  ): Promise<void> {
    const rows = await sqlRows<{ start: string | null }>(
      trx,
      `select input ->> 'start' as start from execution where tenant_id = ? and id = ? for update`,
      [tenantId, id],
    );
    const start = rows[0]?.start;
    if (start === undefined || start === null) return;
    const shown = JSON.stringify(await shownOf(JSON.parse(start)));
    if (shown === JSON.stringify(JSON.parse(start))) return;
    await trx.raw(
      `update execution set input = jsonb_set(input, '{start}', ?::jsonb)
       where tenant_id = ? and id = ?`,
      [shown, tenantId, id],
    );
  }

  /** Of these executions, those that have ended, with their outcomes. */
  static async findEnds(
    db: Knex,
    tenantId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, ExecutionStatus>> {
    const rows = await sqlRows<{ id: string; status: ExecutionStatus }>(
      db,
      'select id, status from execution where tenant_id = ? and id = any(?::uuid[])',
      [tenantId, ids],
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  }

  /** Records items of a batch with their outcomes, with one statement. */
  static insertItems(
    trx: Knex,
    { tenantId, actor, requestId }: FlowRun,
    { workflow, runId }: Pick<TemporalRun, 'workflow' | 'runId'>,
    ends: readonly EndedItem[],
    { startedAt, completedAt }: { readonly startedAt: Date; readonly completedAt: Date },
  ): Promise<void> {
    const rows = ends.map(({ id, workflowId, status, input, error, answer }) => ({
      id,
      workflowId,
      status,
      runId,
      workflow,
      actor,
      requestId,
      input: stringifyJson(input),
      output: error === null ? answer : null,
      error: error === null ? null : answer,
      answer,
      startedAt,
      completedAt,
    }));
    return itemTable.insert(trx, tenantId, rows);
  }

  /** Records the outcome of a flow, unless there is one; returns whether it was recorded. */
  static async end(
    trx: Knex,
    run: FlowRun,
    place: TemporalRun,
    ended: {
      readonly status: ExecutionStatus;
      readonly output: unknown;
      readonly error: FlowFailure | null;
    },
  ): Promise<boolean> {
    const output =
      ended.output === undefined
        ? null
        : await stringifyJsonInPortions(ended.output, { isUneven: true });
    const error = ended.error === null ? null : stringifyJson(ended.error);
    const rows = await sqlRows<object>(
      trx,
      `${insertSql}
       on conflict (tenant_id, id) do update set status = excluded.status,
         output = coalesce(excluded.output, execution.output), error = excluded.error, answer = excluded.answer,
         completed_at = excluded.completed_at
       where execution.status = 'running'
       returning id`,
      {
        ...(await runningRow(run, place)),
        status: ended.status,
        output,
        error,
        answer: error ?? output,
      },
    );
    return rows.length > 0;
  }
}
