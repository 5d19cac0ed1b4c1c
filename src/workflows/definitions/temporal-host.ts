import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { Host } from '../../interpreter/host.js';
import { taskError, type TaskError } from '../../interpreter/task-error.js';
import { statusOfKind, type ProblemKind } from '../../kernel/problem.js';
import { nameIn, type TaskFault } from '../../messages/definitions/task.js';
import { awayFailureType, unkeptFailureType, type FlowFailure } from '../../messages/flow-run.js';
import { failed, failureOf } from '../runtime/failure.js';
import type { TenantTime } from './tenant-time.js';

/** What a failed activity means to the definition. */
function errorOfActivity(error: unknown, instance: string): TaskError {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return taskError(instance, 504, 'It took too long.');
  const { kind, message, details }: FlowFailure = failureOf(cause);
  const own = details['status'];
  const status = typeof own === 'number' ? own : statusOfKind[kind];
  if (cause instanceof ApplicationFailure && cause.type === awayFailureType) {
    return taskError(instance, 503, 'What it needs did not answer.');
  }
  return taskError(instance, status, message, {}, kind);
}

/** The answer of a call that failed only since its rows were not kept (see `shown` of the activities). */
export function answerOf(error: unknown): { readonly answer: unknown } | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure) || cause.type !== unkeptFailureType) return undefined;
  return { answer: cause.details?.[0] };
}

/** Shows in Temporal's UI what the tasks do that are under way, one in a line. */
function showTasks(): Host['show'] {
  const shown = new Map<string, string>();
  return (path, text) => {
    if (text === undefined && !shown.delete(path)) return;
    if (text !== undefined) shown.set(path, text);
    setCurrentDetails([...shown].map(([at, what]) => `- ${what} (\`${at}\`)`).join('\n'));
  };
}

/** What of its host a workflow has of Temporal and of the time of its tenant. */
const ofTemporal = (time: TenantTime) => ({
  // Temporal's deadlock detector waits for two seconds.
  costAtOnce: 500_000,
  now: () => Date.now(),
  time: () => time.now(),
  refreshTime: () => time.refresh(),
  isHistoryLong: () => workflowInfo().continueAsNewSuggested,
  wait: (isOver: () => boolean, until: number, path: string) =>
    time.wait(isOver, until, `${nameIn(path)}: waits`),
  openScope: () => new CancellationScope(),
  show: showTasks(),
  isCancellation,
  faultOf: errorOfActivity,
});

/** The workflow that carries out a definition, as the interpreter needs it. */
export const temporalHost = (
  time: TenantTime,
  steps: Omit<Host, keyof ReturnType<typeof ofTemporal>>,
): Host => ({ ...steps, ...ofTemporal(time) });

const kinds = Object.entries(statusOfKind) as [ProblemKind, number][];

/** What kind of fault one is that a definition has raised, or that says no more than its status. */
function kindOf({ status }: TaskFault): ProblemKind {
  const kind = kinds.find(([, one]) => one === status)?.[0];
  return kind === undefined || kind === 'internal' ? 'conflict' : kind;
}

/** How an execution fails because of a task. */
export function endOfFault(
  { fault, kind = kindOf(fault) }: TaskError,
  undone: readonly string[],
): ApplicationFailure {
  const message = `${fault.instance}: ${fault.detail}`.slice(0, 2_000);
  return failed({ kind, message, details: { error: fault, undone } }, undefined);
}
