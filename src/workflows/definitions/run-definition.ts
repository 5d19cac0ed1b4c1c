import {
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  isCancellation,
  defineSignal,
  patched,
  proxyActivities,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import type { Host } from '../../interpreter/host.js';
import { Interpreter } from '../../interpreter/interpreter.js';
import type { DefinitionState } from '../../interpreter/state.js';
import { Suspended, taskError, TaskError } from '../../interpreter/task-error.js';
import { undoAll } from '../../interpreter/undo.js';
import { valueFaults } from '../../kernel/expression/json-schema-check.js';
import type { ProblemKind } from '../../kernel/problem.js';
import { decidedSignal } from '../../messages/definitions/approval.js';
import { heardSignal } from '../../messages/definitions/event.js';
import type { DefinitionInput } from '../../messages/definitions/definition-run.js';
import type { Definition } from '../../messages/definitions/definition.js';
import { callSummary, type TaskCall, type TaskFault } from '../../messages/definitions/task.js';
import { clockMovedSignal } from '../../messages/sandbox/sandbox-clock.js';
import type { FlowRun } from '../../messages/flow-run.js';
import { lastStep, step } from '../runtime/flow-step.js';
import { isAway, persist } from '../runtime/repeat-while-away.js';
import { shortSteps } from '../runtime/step-timeouts.js';
import { endedDefinition } from './ended-definition.js';
import { rowKeeper, type RowsWay } from './row-keeper.js';
import { Steps } from './steps.js';
import { answerOf, endOfFault, temporalHost } from './temporal-host.js';
import { TenantTime } from './tenant-time.js';

/**
 * Calls of a definition: what passes is tried again under the key of the call, for as long as a flow
 * may take that it has started. A worker that was killed is noticed within seconds.
 */
const { callTask } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '10 s',
  scheduleToCloseTimeout: '24 hours',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
});

/** A server elsewhere answers within the time of webhooks, or the call has failed. */
const { callHttp } = proxyActivities<Activities>({
  startToCloseTimeout: '45 s',
  heartbeatTimeout: '10 s',
  scheduleToCloseTimeout: '24 hours',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '30 s' },
});

const approvalDecided = defineSignal<[number]>(decidedSignal);
const clockMoved = defineSignal<[number]>(clockMovedSignal);
const eventHeard = defineSignal<[number]>(heardSignal);

/** A short step that waits for as long as its database is away. */
const lasting = <Output>(work: () => Promise<Output>): Promise<Output> =>
  persist(work, { isWorthIt: isAway });

/** Why an execution ends before its tasks are done: a task has failed; without a fault it was canceled. */
interface Cause {
  readonly fault?: TaskFault;
  readonly kind?: ProblemKind | undefined;
}

/** An execution of a definition, whose version is read once and stands in the history. */
interface Resumed {
  readonly state: DefinitionState;
  readonly begun: Awaited<ReturnType<Activities['beginDefinition']>>;
  /** Once what it did is being taken back. */
  readonly cause?: Cause;
}

const causeOf = (error: unknown): Cause =>
  error instanceof TaskError ? { fault: error.fault, kind: error.kind } : {};

const canceled = (): CancelledFailure => new CancelledFailure('The execution was canceled.');
const errorOf = ({ fault, kind }: Cause): Error =>
  fault ? new TaskError(fault, kind) : canceled();

const newState = (startedMs: number): DefinitionState => ({
  seq: 0,
  context: {},
  cost: 0,
  startedMs,
  secretMark: uuid4(),
  undo: [],
  root: {},
});

type Call = (task: TaskCall, path: string) => Promise<unknown>;

/**
 * Makes calls. One that is under way when it is canceled is waited for, since what it has done is to be
 * taken back (docs/decisions/0457); it was not in histories that are older than that.
 */
function callerOf(run: FlowRun<DefinitionInput>, isWaitedFor: boolean): Call {
  const begin = (
    task: TaskCall,
    path: string,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED' | 'TRY_CANCEL',
  ): Promise<unknown> => {
    const summary = callSummary(path, task.call, task.with);
    const activity = task.call === 'http' ? callHttp : callTask;
    const options = { summary: task.isUndo ? `undo of ${summary}` : summary, cancellationType };
    return activity.executeWithOptions(options, [{ run, input: task }]);
  };
  // As it was, to the last turn of the queue of promises.
  if (!isWaitedFor) return (task, path) => begin(task, path, 'TRY_CANCEL');
  return async (task, path) => {
    try {
      return await begin(task, path, 'WAIT_CANCELLATION_COMPLETED');
    } catch (error) {
      // Not tried again, since it is canceled: its error is none of the task. What it has done is.
      const isMade = answerOf(error) !== undefined;
      if (isMade || !CancellationScope.current().consideredCancelled) throw error;
      throw new CancelledFailure('The call was canceled.');
    }
  };
}

/** How an execution does what it does, as its history has it. */
interface Means {
  readonly call: Call;
  readonly steps: Steps;
  readonly way: RowsWay;
  /** Whether what takes tasks back is kept outside of the history where it is much. */
  readonly isKeptApart: boolean;
}

/** What the interpreter needs of this workflow. */
function hostOf(
  run: FlowRun<DefinitionInput>,
  state: DefinitionState,
  time: TenantTime,
  { call, steps, way, isKeptApart }: Means,
): Host {
  const decided = new Set<number>();
  setHandler(approvalDecided, (seq) => {
    decided.add(seq);
  });
  const heard = new Set<number>();
  setHandler(eventHeard, (seq) => {
    heard.add(seq);
  });
  const safely = <Output>(work: () => Promise<Output>): Promise<Output> =>
    time.step(() => lasting(work));
  /** A step that is done although the execution is being canceled. */
  const anyhow = <Output>(work: () => Promise<Output>): Promise<Output> =>
    CancellationScope.nonCancellable(() => safely(work));
  const rows = rowKeeper(way, {
    keep: (input, isInTurn, hidden) =>
      anyhow(() => (isInTurn ? steps.inTurn : steps.short).keepTasks({ run, input, hidden })),
    call: ({ path, ...asked }, kept) => {
      const task = { ...asked, isUndo: false, secretMark: state.secretMark };
      return time.step(() => call(kept ? { ...task, rows: kept } : task, path));
    },
    answerOf,
  });
  return temporalHost(time, {
    ...rows,
    keepUndos: isKeptApart
      ? (kept) => anyhow(() => steps.short.keepUndos({ run, input: kept }))
      : undefined,
    sideBySide: (work) => (way === 'old' ? work() : steps.sideBySide(work)),
    openApproval: (asked) => safely(() => steps.short.openApproval({ run, input: asked })),
    lookAtApproval: (look) => {
      decided.delete(look.seq);
      return anyhow(() => steps.short.lookAtApproval({ run, input: look }));
    },
    isDecided: (seq) => decided.has(seq),
    emit: (event) => safely(() => steps.short.emitEvent({ run, input: event })),
    openListener: (asked) => safely(() => steps.short.openListener({ run, input: asked })),
    lookAtListener: (look) => {
      heard.delete(look.seq);
      return anyhow(() => steps.short.lookAtListener({ run, input: look }));
    },
    isHeard: (seq) => heard.has(seq),
  });
}

/** What `putSecret` hides must not come back with rows that another branch has taken along. */
const wayOf = (definition: Definition, edition: number): RowsWay => {
  if (!JSON.stringify(definition).includes('putSecret')) return 'along';
  return edition > 0 ? 'before' : 'lost';
};

/**
 * Takes back what an execution has done, and gives the names of the tasks; undefined: the rest of it is for
 * another history (docs/decisions/0491).
 */
const takeBack = (
  run: FlowRun<DefinitionInput>,
  state: DefinitionState,
  interpreter: Interpreter,
  { call, isKeptApart }: Means,
): Promise<string[] | undefined> =>
  CancellationScope.nonCancellable(async () => {
    await interpreter.flush();
    return undoAll(state, {
      call,
      read: (block) => lasting(() => shortSteps.readUndos({ run, input: block })),
      isHistoryLong: () => isKeptApart && interpreter.host.isHistoryLong(),
    });
  });

/** Goes on taking back in another history, which needs nothing of what the tasks were to do. */
const takeBackLater = (
  run: FlowRun<DefinitionInput>,
  { state, begun, cause }: Resumed & { readonly cause: Cause },
): Promise<never> =>
  continueAsNew<typeof runDefinition>(run, {
    state: { ...state, context: null, root: {} },
    begun: { ...begun, definition: endedDefinition(begun.definition, cause.fault) },
    cause,
  });

/** Records the end; whoever cancels it meanwhile comes too late, unless it began before that was so. */
async function recordEnd(
  run: FlowRun<DefinitionInput>,
  output: unknown,
  edition: number,
): Promise<unknown> {
  const end = (): Promise<unknown> => lastStep(shortSteps.endDefinition, run, output);
  if (edition < 2) return end();
  if (CancellationScope.current().consideredCancelled) throw canceled();
  return CancellationScope.nonCancellable(end);
}

/** Carries out a workflow that a tenant has defined (docs/decisions/0413). */
export async function runDefinition(
  run: FlowRun<DefinitionInput>,
  resumed?: Resumed,
): Promise<unknown> {
  const isPatched = patched('rows-go-with-calls');
  const isMeasured = patched('values-are-measured');
  const isWaitedFor = patched('calls-are-waited-for');
  const isKeptApart = patched('undo-is-kept-apart');
  const steps = new Steps();
  const begun = resumed?.begun ?? (await step(shortSteps.beginDefinition, run, run.input));
  const { definition, name, version, standsAt, edition = 0 } = begun;
  const time = new TenantTime(standsAt, (until) =>
    lasting(() => steps.short.lookAtClock({ run, input: { until } })),
  );
  setHandler(clockMoved, (now) => time.goOn(now));
  const state = resumed?.state ?? newState(time.now());
  // What an event says is not checked before it starts an execution.
  const takesExactNumbers = edition > 2;
  const [fault] = valueFaults(run.input.start, definition.input?.schema?.document, {
    takesExactNumbers,
  });
  if (fault) {
    throw endOfFault(taskError('', 400, `The input${fault.pointer} ${fault.message}.`), []);
  }
  const call = callerOf(run, isWaitedFor);
  const way = isPatched ? wayOf(definition, edition) : 'old';
  const isCanceled = (): boolean => isWaitedFor && CancellationScope.current().consideredCancelled;
  const means = { call, steps, way, isKeptApart };
  const host = {
    ...hostOf(run, state, time, means),
    isMeasured,
    isPartingCounted: edition > 0,
    isUndoInBlocks: edition > 1,
    takesExactNumbers,
    isCanceled,
  };
  const interpreter = new Interpreter(state, host);
  const workflow = {
    id: run.executionId,
    definition: { id: run.input.definitionId, name, version },
    startedAt: new Date(state.startedMs).toISOString(),
    tenant: run.tenantId,
    startedBy: run.actor,
    input: run.input.start,
  };
  try {
    if (resumed?.cause) throw errorOf(resumed.cause);
    const output = await interpreter.run(definition, run.input.start, { workflow });
    return await recordEnd(run, output ?? null, edition);
  } catch (caught) {
    const isSuspended = caught instanceof Suspended;
    if (isSuspended) await interpreter.flush();
    // Looked at last: another history would not know of a cancellation that came meanwhile.
    if (isSuspended && !isCanceled()) {
      return continueAsNew<typeof runDefinition>(run, { state, begun });
    }
    const error = isSuspended ? canceled() : caught;
    if (!(error instanceof TaskError) && !isCancellation(error)) throw error;
    const undone = await takeBack(run, state, interpreter, means);
    if (undone === undefined) return takeBackLater(run, { state, begun, cause: causeOf(error) });
    throw error instanceof TaskError ? endOfFault(error, undone) : error;
  }
}
