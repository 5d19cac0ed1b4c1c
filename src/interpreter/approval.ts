import { isObject } from '../kernel/expression/json-schema-check.js';
import {
  approvalLimits,
  type ApprovalSpec,
  type ApprovalState,
  type AskedApproval,
  type OnTimeout,
} from '../messages/definitions/approval.js';
import { definitionLimits, durationMs } from '../messages/definitions/definition.js';
import { nameIn } from '../messages/definitions/task.js';
import type { Block } from './for-fork-try.js';
import type { Interpreter } from './interpreter.js';
import { Suspended, taskError, type TaskError } from './task-error.js';

/** What is asked for; what expressions have made of it is looked at again. */
async function askedOf(
  on: Interpreter,
  { task, path, variables, frame }: Block,
): Promise<AskedApproval> {
  const given = on.values.of(task.with, variables, path) as ApprovalSpec;
  on.values.checkResult(given, path);
  const { title, details = null, roles = null, quorum = 1, notStarter = false } = given;
  if (typeof title !== 'string' || title === '') {
    throw taskError(path, 400, 'The title of the approval is no text.');
  }
  if (details !== null && !isObject(details)) {
    throw taskError(path, 400, 'The details of the approval are no object.');
  }
  const length = JSON.stringify(details).length;
  if (length > approvalLimits.details) {
    const most = approvalLimits.details;
    const text = `The details of the approval have ${length} characters, more than ${most}.`;
    throw taskError(path, 400, text);
  }
  const ms = Math.min(durationMs(given.timeout) ?? 0, definitionLimits.ms);
  return {
    seq: frame.seq ?? 0,
    path,
    title: title.slice(0, approvalLimits.title),
    details,
    roles,
    quorum,
    notStarter,
    onTimeout: given.onTimeout,
    dueAt: new Date(await on.dueIn(ms)).toISOString(),
  };
}

const rejected = (path: string, detail: string): TaskError =>
  taskError(path, 403, detail, { title: 'Rejected' });

/** What a task gives whose approval has ended. */
function outcomeOf(state: ApprovalState, onTimeout: OnTimeout, path: string): unknown {
  const { status, decisions } = state;
  if (status === 'rejected') {
    const last = decisions.at(-1);
    const why = last?.reason === null || last === undefined ? '' : `: ${last.reason}`;
    throw rejected(path, `Rejected by ${last?.decidedBy ?? 'somebody'}${why}`);
  }
  if (status === 'expired' && onTimeout === 'reject') {
    throw rejected(path, 'Nobody decided in time, which rejects it.');
  }
  if (status === 'expired' && onTimeout === 'fail') {
    throw taskError(path, 408, 'Nobody decided in time.', { title: 'Timeout' });
  }
  if (status === 'canceled') throw taskError(path, 409, 'The approval was canceled.');
  return state;
}

/**
 * Asks for an approval and waits until it is decided or its time is over (spec/beyond.md R341 to R344).
 * A signal only says that there is something to see: what counts is how the approval stands.
 */
export async function runApproval(on: Interpreter, block: Block): Promise<unknown> {
  const { host } = on;
  const { path, frame } = block;
  const seq = frame.seq ?? 0;
  const asked = frame.approval === undefined ? await askedOf(on, block) : undefined;
  await on.flush();
  try {
    let isFresh = asked !== undefined;
    if (asked) await host.openApproval(asked);
    const { until, onTimeout } = (frame.approval ??= {
      until: Date.parse(asked?.dueAt ?? ''),
      onTimeout: asked?.onTimeout ?? 'fail',
    });
    const end = new Date(until).toISOString();
    host.show(path, `${nameIn(path)}: waits for an approval until ${end}`);
    for (;;) {
      const isOver = host.time() >= until;
      if (!isFresh) {
        const state = await host.lookAtApproval({ seq, as: isOver ? 'expire' : 'look' });
        if (state.status !== 'pending') return outcomeOf(state, onTimeout, path);
      }
      isFresh = false;
      const isStopped = (): boolean => on.isSuspending || host.isDecided(seq);
      if (!isOver) await host.wait(isStopped, until, path);
      if (on.isSuspending) throw new Suspended();
    }
  } catch (error) {
    if (host.isCancellation(error)) await host.lookAtApproval({ seq, as: 'cancel' });
    throw error;
  }
}
