import { isObject } from '../kernel/expression/json-schema-check.js';
import { definitionLimits, durationMs, type Task } from '../messages/definitions/definition.js';
import type { HostScope } from './host.js';
import type { Interpreter, Outcome } from './interpreter.js';
import type { Frame } from './state.js';
import { limitError, Suspended, taskError, TaskError } from './task-error.js';
import type { Variables } from './values.js';

/** A task that has others in it: where it stands, and what it sees. */
export interface Block {
  readonly task: Task;
  readonly path: string;
  readonly variables: Variables;
  readonly frame: Frame;
}

/** Does the tasks of a loop for each element. */
export async function runFor(on: Interpreter, block: Block): Promise<Outcome> {
  const { task, path, variables, frame } = block;
  const { each = 'item', at = 'index', in: list = '' } = task.for ?? {};
  if (frame.items === undefined) {
    const items = on.values.of(list, variables, path);
    if (!Array.isArray(items)) throw taskError(path, 400, `${list} gave no list.`);
    if (items.length > definitionLimits.turns) {
      const most = definitionLimits.turns;
      throw limitError(path, `A loop has at most ${most} turns; here are ${items.length}.`);
    }
    frame.items = items as unknown[];
  }
  frame.at ??= 0;
  frame.value ??= { of: variables['input'] };
  for (; frame.at < frame.items.length; frame.at += 1) {
    const own = {
      ...variables,
      input: frame.value.of,
      [each]: frame.items[frame.at],
      [at]: frame.at,
    };
    on.values.beginTask(path);
    const isBegun = frame.child?.at !== undefined;
    if (!isBegun && task.while !== undefined && !on.values.holds(task.while, own, path)) break;
    frame.child ??= {};
    const { of: input } = frame.value;
    const { output, then } = await on.list(task.do ?? [], `${path}/do`, input, own, frame.child);
    frame.value = { of: output };
    frame.child = undefined;
    if (then === 'end') return { output, then };
  }
  return { output: frame.value.of, then: 'continue' };
}

/** What branches have given so far. */
interface Race {
  readonly scopes: readonly HostScope[];
  readonly isCompeting: boolean;
  first: Frame | undefined;
  failure: unknown;
  isSuspended: boolean;
}

async function runBranch(
  on: Interpreter,
  { task, path, variables, frame }: Block,
  race: Race,
  index: number,
): Promise<void> {
  const { scopes } = race;
  const own = frame.branches?.[index] ?? {};
  const [[name, branch] = ['', {}]] = Object.entries(task.fork?.branches[index] ?? {});
  const cancelOthers = (): void => {
    for (const [at, scope] of scopes.entries()) if (at !== index) scope.cancel();
  };
  if (own.done !== undefined) return;
  const place = `${path}/fork/branches/${index}/${name}`;
  try {
    const work = (): Promise<Outcome> =>
      on.task(name, branch, place, variables['input'], variables, own);
    const { output } = (await scopes[index]?.run(work)) ?? { output: null };
    own.done = { of: output };
    if (!race.isCompeting) return;
    race.first ??= own;
    cancelOthers();
  } catch (error) {
    if (error instanceof Suspended) race.isSuspended = true;
    else if (race.first === undefined && race.failure === undefined) {
      race.failure = error;
      cancelOthers();
    }
  }
}

/** Does branches side by side; one that fails, or wins, cancels the others. */
export async function runFork(on: Interpreter, block: Block): Promise<Outcome> {
  const { branches = [], compete = false } = block.task.fork ?? {};
  const frames = (block.frame.branches ??= branches.map(() => ({})));
  const race: Race = {
    scopes: branches.map(() => on.host.openScope()),
    isCompeting: compete,
    first: frames.find(({ done }) => compete && done !== undefined),
    failure: undefined,
    isSuspended: false,
  };
  if (race.first === undefined) {
    await on.host.sideBySide(() =>
      Promise.all(branches.map((_each, index) => runBranch(on, block, race, index))),
    );
  }
  if (race.first?.done) return { output: race.first.done.of, then: 'continue' };
  if (race.failure !== undefined) throw race.failure as Error;
  if (race.isSuspended) throw new Suspended();
  return { output: frames.map(({ done }) => done?.of ?? null), then: 'continue' };
}

function isCaught(on: Interpreter, { task, path }: Block, variables: Variables): boolean {
  const { errors, as = 'error', when, exceptWhen } = task.catch ?? {};
  const fault = variables[as];
  const wanted = Object.entries(errors?.with ?? {});
  if (!isObject(fault) || wanted.some(([name, value]) => fault[name] !== value)) return false;
  if (when !== undefined && !on.values.holds(when, variables, path)) return false;
  return exceptWhen === undefined || !on.values.holds(exceptWhen, variables, path);
}

/** Does tasks, again where it says so, and what handles their error. */
export async function runTry(on: Interpreter, block: Block): Promise<Outcome> {
  const { task, path, variables, frame } = block;
  const { as = 'error', retry, do: handler } = task.catch ?? {};
  const { input } = variables;
  for (frame.at ??= 1; frame.caught === undefined; frame.at += 1) {
    if (frame.until !== undefined) await on.sleep(path, frame);
    frame.child ??= {};
    frame.tries = frame.at;
    try {
      return await on.list(task.try ?? [], `${path}/try`, input, variables, frame.child);
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      const seen = { ...variables, [as]: { ...error.fault } };
      if (!isCaught(on, block, seen)) throw error;
      frame.child = undefined;
      if (retry && frame.at < (retry.limit?.attempt?.count ?? 5)) {
        const delay = durationMs(retry.delay ?? { seconds: 1 }) ?? 0;
        const { linear, exponential } = retry.backoff ?? {};
        const times = exponential ? 2 ** (frame.at - 1) : linear ? frame.at : 1;
        frame.until = await on.dueIn(Math.min(delay * times, definitionLimits.ms));
      } else if (retry && handler === undefined) throw error;
      else frame.caught = { ...error.fault };
    }
    await on.flush();
  }
  if (handler === undefined) return { output: input, then: 'continue' };
  frame.child ??= {};
  const seen = { ...variables, [as]: frame.caught };
  return on.list(handler, `${path}/catch/do`, input, seen, frame.child);
}
