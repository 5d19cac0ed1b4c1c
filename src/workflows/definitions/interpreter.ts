import {
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow';
import { isObject, valueFaults } from '../../kernel/expression/shape.js';
import {
  definitionLimits,
  durationMs,
  kindOf,
  type DurationSpec,
  type Task,
  type TaskList,
} from '../../messages/definitions/definition.js';
import type { TaskFault, TaskRow } from '../../messages/definitions/task.js';
import { errorOfActivity, Suspended, taskError, TaskError } from './task-error.js';
import type { DefinitionState, Frame } from './state.js';
import { Values, type Variables } from './values.js';

/** What the interpreter needs of the workflow that runs it. */
export interface Steps {
  keep(rows: readonly TaskRow[]): Promise<void>;
  call(call: string, given: unknown, seq: number): Promise<unknown>;
}

/** Where it goes on after a task: `end` ends the execution, `exit` the list. */
interface Outcome {
  readonly output: unknown;
  readonly then: string;
}

/** Runs of tasks that are kept at once; and how much may be computed before Temporal gets a word. */
const rowsMax = 50;
const costMax = 500_000;

const now = (): string => new Date().toISOString();

/**
 * Carries out a definition task by task. All it decides follows from the definition, its state and what
 * steps have given, so that a replay decides the same (docs/decisions/0413).
 */
export class Interpreter {
  readonly #state: DefinitionState;
  readonly #steps: Steps;
  readonly #values: Values;
  #rows: TaskRow[] = [];
  #costKept: number;
  /** Set when the history is long: each task stops where it stands. */
  #isSuspending = false;

  constructor(state: DefinitionState, steps: Steps) {
    this.#state = state;
    this.#steps = steps;
    this.#values = new Values(state);
    this.#costKept = state.cost;
  }

  get values(): Values {
    return this.#values;
  }

  /** Keeps what has happened since it was done last. */
  async flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#costKept = this.#state.cost;
    if (rows.length > 0) await this.#steps.keep(rows);
  }

  #checkTime(path: string): void {
    if (Date.now() - this.#state.startedMs <= definitionLimits.ms) return;
    throw taskError(path, 504, 'An execution may take 31 days.');
  }

  async list(
    list: TaskList,
    path: string,
    input: unknown,
    variables: Variables,
    frame: Frame,
  ): Promise<Outcome> {
    frame.at ??= 0;
    frame.value ??= { of: input };
    const names = list.map((item) => Object.keys(item)[0] ?? '');
    while (frame.at < list.length) {
      const name = names[frame.at] ?? '';
      const task = list[frame.at]?.[name] ?? {};
      frame.child ??= {};
      const place = `${path}/${frame.at}/${name}`;
      const { output, then } = await this.task(
        name,
        task,
        place,
        frame.value.of,
        variables,
        frame.child,
      );
      frame.value = { of: output };
      frame.child = undefined;
      if (then === 'end') return { output, then };
      if (then === 'exit') break;
      frame.at = then === 'continue' ? frame.at + 1 : names.indexOf(then);
    }
    return { output: frame.value.of, then: 'continue' };
  }

  async task(
    name: string,
    task: Task,
    path: string,
    raw: unknown,
    around: Variables,
    frame: Frame,
  ): Promise<Outcome> {
    if (workflowInfo().continueAsNewSuggested) this.#isSuspending = true;
    if (this.#isSuspending) throw new Suspended();
    const isNew = frame.seq === undefined;
    frame.seq ??= this.#nextRun(path);
    frame.startedAt ??= now();
    const { seq, startedAt } = frame;
    const base = { seq, path, name, kind: kindOf(task) ?? '', startedAt, attempts: 1 };
    try {
      if (isNew) this.#checkTime(path);
      if (
        isNew &&
        task.if !== undefined &&
        !this.#values.holds(task.if, { ...around, input: raw }, path)
      ) {
        await this.#note({ ...base, status: 'skipped', endedAt: now() });
        return { output: raw, then: 'continue' };
      }
      const input = this.#input(task, raw, around, path);
      if (isNew) await this.#note({ ...base, status: 'running', input });
      const given = await this.#run(task, path, { ...around, input }, frame);
      const { output, then } = this.#give(task, path, { ...around, input }, given, seq);
      await this.#note({ ...base, status: 'completed', endedAt: now(), output });
      return { output, then };
    } catch (error) {
      if (error instanceof Suspended) throw error;
      const isCanceled = isCancellation(error);
      const found = isCanceled || error instanceof TaskError ? error : errorOfActivity(error, path);
      const fault = found instanceof TaskError ? found.fault : undefined;
      const status = isCanceled ? 'canceled' : 'failed';
      this.#rows.push({ ...base, status, endedAt: now(), error: fault });
      throw found;
    }
  }

  #nextRun(path: string): number {
    this.#state.seq += 1;
    if (this.#state.seq <= definitionLimits.taskRuns) return this.#state.seq;
    throw taskError(path, 500, `An execution runs at most ${definitionLimits.taskRuns} tasks.`);
  }

  async #note(row: TaskRow): Promise<void> {
    this.#rows.push(row);
    const isMuch = this.#state.cost - this.#costKept > costMax;
    if (this.#rows.length >= rowsMax || isMuch) await this.flush();
  }

  #input(task: Task, raw: unknown, around: Variables, path: string): unknown {
    const { from, schema } = task.input ?? {};
    const input = from === undefined ? raw : this.#values.of(from, { ...around, input: raw }, path);
    const [fault] = schema ? valueFaults(input, schema.document) : [];
    if (fault) throw taskError(path, 400, `The input${fault.pointer} ${fault.message}.`);
    return input;
  }

  #give(task: Task, path: string, variables: Variables, given: Outcome, seq: number): Outcome {
    const seen = { ...variables, output: given.output };
    const undo = task['durabill.undo'];
    if (undo) {
      const what = this.#values.of(undo.with, seen, path);
      this.#state.undo.push({ seq, path, call: undo.call, with: what });
    }
    const output = task.output ? this.#values.of(task.output.as, seen, path) : given.output;
    if (task.export) {
      this.#state.context = this.#values.of(task.export.as, { ...variables, output }, path);
    }
    this.#values.checkSize(output, path);
    const then = given.then === 'continue' ? (task.then ?? 'continue') : given.then;
    return { output, then };
  }

  async #run(task: Task, path: string, variables: Variables, frame: Frame): Promise<Outcome> {
    const { input } = variables;
    const inner = (frame.child ??= {});
    switch (kindOf(task)) {
      case 'set':
        return { output: this.#values.of(task.set, variables, path), then: 'continue' };
      case 'do': {
        const done = await this.list(task.do ?? [], `${path}/do`, input, variables, inner);
        return done;
      }
      case 'for':
        return this.#for(task, path, variables, frame);
      case 'fork':
        return this.#fork(task, path, variables, frame);
      case 'switch':
        return this.#switch(task, path, variables);
      case 'try':
        return this.#try(task, path, variables, frame);
      case 'raise':
        throw this.#raised(task, path, variables);
      case 'wait':
        await this.#wait(task.wait ?? {}, path, frame);
        return { output: input, then: 'continue' };
      case 'call':
        return { output: await this.#call(task, path, variables, frame), then: 'continue' };
      default:
        throw taskError(path, 400, 'Tasks of this kind are not carried out yet.');
    }
  }

  async #call(task: Task, path: string, variables: Variables, frame: Frame): Promise<unknown> {
    const given = this.#values.of(task.with, variables, path);
    await this.flush();
    setCurrentDetails(`${path}: ${task.call ?? ''}`);
    const output = await this.#steps.call(task.call ?? '', given, frame.seq ?? 0);
    this.#values.checkSize(output, path);
    return output;
  }

  #switch(task: Task, path: string, variables: Variables): Outcome {
    for (const item of task.switch ?? []) {
      const [one] = Object.values(item);
      if (one && (one.when === undefined || this.#values.holds(one.when, variables, path))) {
        return { output: variables['input'], then: one.then };
      }
    }
    return { output: variables['input'], then: 'continue' };
  }

  #raised(task: Task, path: string, variables: Variables): TaskError {
    const error = this.#values.of(task.raise?.error, variables, path) as Partial<TaskFault>;
    const { status = 500, type, title = 'Raised', detail = title } = error;
    return taskError(path, status, String(detail), {
      title,
      ...(type === undefined ? {} : { type }),
    });
  }

  async #for(task: Task, path: string, variables: Variables, frame: Frame): Promise<Outcome> {
    const { each = 'item', at = 'index', in: list = '' } = task.for ?? {};
    if (frame.items === undefined) {
      const items = this.#values.of(list, variables, path);
      if (!Array.isArray(items)) throw taskError(path, 400, `${list} gave no list.`);
      if (items.length > definitionLimits.turns) {
        const most = definitionLimits.turns;
        throw taskError(path, 500, `A loop has at most ${most} turns; here are ${items.length}.`);
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
      const isBegun = frame.child?.at !== undefined;
      if (!isBegun && task.while !== undefined && !this.#values.holds(task.while, own, path)) break;
      frame.child ??= {};
      const { output, then } = await this.list(
        task.do ?? [],
        `${path}/do`,
        frame.value.of,
        own,
        frame.child,
      );
      frame.value = { of: output };
      frame.child = undefined;
      if (then === 'end') return { output, then };
    }
    return { output: frame.value.of, then: 'continue' };
  }

  async #fork(task: Task, path: string, variables: Variables, frame: Frame): Promise<Outcome> {
    const { branches = [], compete = false } = task.fork ?? {};
    const frames = (frame.branches ??= branches.map(() => ({})));
    const scopes = branches.map(() => new CancellationScope());
    let failure: unknown;
    let first: Frame | undefined = frames.find(({ done }) => compete && done !== undefined);
    let isSuspended = false;
    const others = (index: number): void => {
      for (const [at, scope] of scopes.entries()) if (at !== index) scope.cancel();
    };
    const run = async (index: number): Promise<void> => {
      const own = frames[index] ?? {};
      const [[name, branch] = ['', {}]] = Object.entries(branches[index] ?? {});
      if (own.done !== undefined) return;
      const place = `${path}/fork/branches/${index}/${name}`;
      try {
        const work = (): Promise<Outcome> =>
          this.task(name, branch, place, variables['input'], variables, own);
        const { output } = (await scopes[index]?.run(work)) ?? { output: null };
        own.done = { of: output };
        if (!compete) return;
        first ??= own;
        others(index);
      } catch (error) {
        if (error instanceof Suspended) isSuspended = true;
        else if (first === undefined && failure === undefined) {
          failure = error;
          others(index);
        }
      }
    };
    if (first === undefined) await Promise.all(branches.map((_each, index) => run(index)));
    if (first?.done) return { output: first.done.of, then: 'continue' };
    if (failure !== undefined) throw failure as Error;
    if (isSuspended) throw new Suspended();
    return { output: frames.map(({ done }) => done?.of ?? null), then: 'continue' };
  }

  #isCaught(task: Task, path: string, variables: Variables): boolean {
    const { errors, as = 'error', when, exceptWhen } = task.catch ?? {};
    const fault = variables[as];
    const wanted = Object.entries(errors?.with ?? {});
    if (!isObject(fault) || wanted.some(([name, value]) => fault[name] !== value)) return false;
    if (when !== undefined && !this.#values.holds(when, variables, path)) return false;
    return exceptWhen === undefined || !this.#values.holds(exceptWhen, variables, path);
  }

  async #try(task: Task, path: string, variables: Variables, frame: Frame): Promise<Outcome> {
    const { as = 'error', retry, do: handler } = task.catch ?? {};
    const { input } = variables;
    for (frame.at ??= 1; frame.caught === undefined; frame.at += 1) {
      if (frame.until !== undefined) await this.#sleep(path, frame);
      frame.child ??= {};
      try {
        return await this.list(task.try ?? [], `${path}/try`, input, variables, frame.child);
      } catch (error) {
        if (!(error instanceof TaskError)) throw error;
        const seen = { ...variables, [as]: { ...error.fault } };
        if (!this.#isCaught(task, path, seen)) throw error;
        frame.child = undefined;
        if (retry && frame.at < (retry.limit?.attempt?.count ?? 5)) {
          const delay = durationMs(retry.delay ?? { seconds: 1 }) ?? 0;
          const { backoff = 'constant' } = retry;
          const times =
            backoff === 'constant' ? 1 : backoff === 'linear' ? frame.at : 2 ** (frame.at - 1);
          frame.until = Date.now() + Math.min(delay * times, definitionLimits.ms);
        } else if (retry && handler === undefined) throw error;
        else frame.caught = { ...error.fault };
      }
      await this.flush();
    }
    if (handler === undefined) return { output: input, then: 'continue' };
    frame.child ??= {};
    const seen = { ...variables, [as]: frame.caught };
    return this.list(handler, `${path}/catch/do`, input, seen, frame.child);
  }

  async #wait(duration: DurationSpec, path: string, frame: Frame): Promise<void> {
    frame.until ??= Date.now() + (durationMs(duration) ?? 0);
    setCurrentDetails(`${path}: waits until ${new Date(frame.until).toISOString()}`);
    await this.#sleep(path, frame);
  }

  /** Waits until the time of a frame has come, or the history is too long. */
  async #sleep(path: string, frame: Frame): Promise<void> {
    const last = this.#state.startedMs + definitionLimits.ms;
    const until = Math.min(frame.until ?? 0, last + 1);
    await this.flush();
    const left = until - Date.now();
    if (left > 0 && (await condition(() => this.#isSuspending, left))) throw new Suspended();
    frame.until = undefined;
    this.#checkTime(path);
  }
}
