import { valueFaults } from '../kernel/expression/json-schema-check.js';
import {
  definitionLimits,
  durationMs,
  kindOf,
  type Definition,
  type DurationSpec,
  type Task,
  type TaskList,
} from '../messages/definitions/definition.js';
import { callSummary, nameIn, type TaskFault, type TaskRow } from '../messages/definitions/task.js';
import { runFor, runFork, runTry } from './for-fork-try.js';
import { runApproval } from './approval.js';
import { runEmit, runListen } from './emit-and-listen.js';
import type { Host } from './host.js';
import { attemptsIn, type DefinitionState, type Frame } from './state.js';
import { limitError, Suspended, taskError, TaskError } from './task-error.js';
import { Undos } from './undo.js';
import { Values, type Variables } from './values.js';

/** Where it goes on after a task: `end` ends the execution, `exit` the list. */
export interface Outcome {
  readonly output: unknown;
  readonly then: string;
}

/** Runs of tasks that are kept at once. */
const rowsMax = 50;

/**
 * Carries out a definition task by task. All it decides follows from the definition, its state and what
 * steps have given, so that a replay decides the same (docs/decisions/0413).
 */
export class Interpreter {
  readonly host: Host;
  readonly values: Values;
  readonly #state: DefinitionState;
  readonly #undos: Undos;
  #rows: TaskRow[] = [];
  #costKept: number;
  #isSuspending = false;

  constructor(state: DefinitionState, host: Host) {
    this.#state = state;
    this.host = host;
    this.values = new Values(state, host.isMeasured, host.isPartingCounted);
    this.#undos = new Undos(state, host, this.values);
    this.#costKept = state.cost;
  }

  /** The history is long: each task stops where it stands. */
  get isSuspending(): boolean {
    return this.#isSuspending;
  }

  get context(): unknown {
    return this.#state.context;
  }

  /** When the execution has taken as long as one may. */
  get endsAt(): number {
    return this.#state.startedMs + definitionLimits.ms;
  }

  /** The event of a run of a task is in the history by now. */
  noteHeard(seq: number): void {
    this.#state.heard = [...(this.#state.heard ?? []), seq];
  }

  /** Runs of tasks whose events nobody asks for again. */
  takeHeard(): number[] {
    const { heard = [] } = this.#state;
    this.#state.heard = [];
    return heard;
  }

  /** Does all of a definition, and gives what it puts out. */
  async run(definition: Definition, input: unknown, variables: Variables): Promise<unknown> {
    try {
      return await this.#runAll(definition, input, variables);
    } catch (error) {
      // One state has the same value in several places: each of them is carried on.
      const what = 'What is carried on from one history to the next has';
      if (error instanceof Suspended) {
        this.values.checkSize(this.#state, '/do', what, definitionLimits.carriedBytes);
      }
      throw error;
    }
  }

  async #runAll(definition: Definition, input: unknown, variables: Variables): Promise<unknown> {
    const done = await this.list(definition.do, '/do', input, variables, this.#state.root);
    const seen = { ...variables, input, output: done.output };
    const output = definition.output
      ? this.values.of(definition.output.as, seen, '/output/as')
      : done.output;
    this.values.checkResult(output, '/output/as');
    await this.flush();
    return output;
  }

  /** What has happened since it was kept last; whoever takes it keeps it. */
  #takeRows(): readonly TaskRow[] {
    const rows = this.#rows;
    this.#rows = [];
    this.#costKept = this.#state.cost;
    return rows;
  }

  /** Keeps what has happened since it was done last. */
  async flush(): Promise<void> {
    const rows = this.#takeRows();
    if (rows.length > 0) await this.host.keep(rows);
  }

  #now(): string {
    return new Date(this.host.now()).toISOString();
  }

  #checkTime(path: string): void {
    if (this.host.time() <= this.endsAt) return;
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
    if (this.host.isHistoryLong()) this.#isSuspending = true;
    if (this.#isSuspending) throw new Suspended();
    const isNew = frame.seq === undefined;
    frame.seq ??= this.#nextRun(path);
    frame.startedAt ??= this.#now();
    const { seq, startedAt } = frame;
    const base = { seq, path, name, kind: kindOf(task) ?? '', startedAt, attempts: 1 };
    this.values.beginTask(path);
    // Others go on where what takes back those before them cannot be kept.
    const isTakenBack = task['durabill.undo'] !== undefined;
    try {
      if (this.#undos.areMany) await this.#undos.keep(isTakenBack);
      if (isNew) this.#checkTime(path);
      if (
        isNew &&
        task.if !== undefined &&
        !this.values.holds(task.if, { ...around, input: raw }, path)
      ) {
        await this.#note({ ...base, status: 'skipped', endedAt: this.#now() });
        return { output: raw, then: 'continue' };
      }
      const input = this.#input(task, raw, around, path);
      if (isNew) await this.#note({ ...base, status: 'running', input });
      const given = await this.#run(task, path, { ...around, input }, frame);
      const { output, then } = this.#give(task, path, { ...around, input }, given, seq);
      if (this.#undos.areMany) await this.#undos.keep(isTakenBack);
      const attempts = attemptsIn(frame);
      await this.#note({ ...base, attempts, status: 'completed', endedAt: this.#now(), output });
      return { output, then };
    } catch (error) {
      if (error instanceof Suspended) throw error;
      const isCanceled = this.host.isCancellation(error);
      const found =
        isCanceled || error instanceof TaskError ? error : this.host.faultOf(error, path);
      const fault = found instanceof TaskError ? found.fault : undefined;
      const status = isCanceled ? 'canceled' : 'failed';
      const attempts = attemptsIn(frame);
      this.#rows.push({ ...base, attempts, status, endedAt: this.#now(), error: fault });
      // Its call may be made, and is taken back; if that cannot be kept, its error is still the cause.
      if (this.host.isUndoInBlocks !== false && this.#undos.areMany) {
        await this.#undos.keep(false);
      }
      throw found;
    } finally {
      this.host.show(path);
    }
  }

  #nextRun(path: string): number {
    this.#state.seq += 1;
    if (this.#state.seq <= definitionLimits.taskRuns) return this.#state.seq;
    throw limitError(path, `An execution runs at most ${definitionLimits.taskRuns} tasks.`);
  }

  async #note(row: TaskRow): Promise<void> {
    this.#rows.push(row);
    const isMuch = this.#state.cost - this.#costKept > this.host.costAtOnce;
    if (this.#rows.length >= rowsMax || isMuch) await this.flush();
  }

  #input(task: Task, raw: unknown, around: Variables, path: string): unknown {
    const { from, schema } = task.input ?? {};
    const input = from === undefined ? raw : this.values.of(from, { ...around, input: raw }, path);
    if (from !== undefined) {
      this.values.checkSize(input, path, 'The input of the task has', definitionLimits.givenBytes);
    }
    const { takesExactNumbers = true } = this.host;
    const [fault] = schema ? valueFaults(input, schema.document, { takesExactNumbers }) : [];
    if (fault) throw taskError(path, 400, `The input${fault.pointer} ${fault.message}.`);
    return input;
  }

  #give(task: Task, path: string, variables: Variables, given: Outcome, seq: number): Outcome {
    const seen = { ...variables, output: given.output };
    const undo = task['durabill.undo'];
    if (undo) this.#undos.note(undo, seen, path, seq);
    const output = task.output ? this.values.of(task.output.as, seen, path) : given.output;
    // Who has lost a fork is only waited for: what goes on is of the winner.
    if (task.export && this.host.isCanceled?.() !== true) {
      this.#state.context = this.values.of(task.export.as, { ...variables, output }, path);
    }
    this.values.checkResult(output, path);
    const then = given.then === 'continue' ? (task.then ?? 'continue') : given.then;
    return { output, then };
  }

  async #run(task: Task, path: string, variables: Variables, frame: Frame): Promise<Outcome> {
    const { input } = variables;
    const inner = (frame.child ??= {});
    switch (kindOf(task)) {
      case 'set':
        return { output: this.values.of(task.set, variables, path), then: 'continue' };
      case 'do':
        return this.list(task.do ?? [], `${path}/do`, input, variables, inner);
      case 'for':
        return runFor(this, { task, path, variables, frame });
      case 'fork':
        return runFork(this, { task, path, variables, frame });
      case 'switch':
        return this.#switch(task, path, variables);
      case 'try':
        return runTry(this, { task, path, variables, frame });
      case 'raise':
        throw this.#raised(task, path, variables);
      case 'wait':
        await this.#wait(task.wait ?? {}, path, frame);
        return { output: input, then: 'continue' };
      case 'call':
        return {
          output: await (task.call === 'durabill.approval'
            ? runApproval(this, { task, path, variables, frame })
            : this.#call(task, path, variables, frame)),
          then: 'continue',
        };
      case 'emit':
        return { output: await runEmit(this, { task, path, variables, frame }), then: 'continue' };
      case 'listen':
        return {
          output: await runListen(this, { task, path, variables, frame }),
          then: 'continue',
        };
      default:
        throw taskError(path, 400, 'It is no task.');
    }
  }

  async #call(task: Task, path: string, variables: Variables, frame: Frame): Promise<unknown> {
    const given = this.values.given(task, variables, path);
    const { call = '' } = task;
    if (this.host.keepsRowsFirst === true) await this.flush();
    this.host.show(path, callSummary(path, call, given));
    const asked = { seq: frame.seq ?? 0, path, call, with: given };
    const output = await this.host.call(asked, this.#takeRows());
    this.values.checkResult(output, path);
    return output;
  }

  #switch(task: Task, path: string, variables: Variables): Outcome {
    for (const item of task.switch ?? []) {
      const [one] = Object.values(item);
      if (one && (one.when === undefined || this.values.holds(one.when, variables, path))) {
        return { output: variables['input'], then: one.then };
      }
    }
    return { output: variables['input'], then: 'continue' };
  }

  #raised(task: Task, path: string, variables: Variables): TaskError {
    const error = this.values.of(task.raise?.error, variables, path) as Partial<TaskFault>;
    this.values.checkSize(error, path, 'The error that is raised has');
    const { status = 500, type, title = 'Raised', detail = title } = error;
    for (const [name, text] of Object.entries({ type, title, detail })) {
      if (text === undefined || typeof text === 'string') continue;
      return taskError(path, 400, `The ${name} of the error that is raised is no text.`);
    }
    return taskError(path, status, detail, { title, ...(type === undefined ? {} : { type }) });
  }

  async #wait(duration: DurationSpec, path: string, frame: Frame): Promise<void> {
    frame.until ??= await this.dueIn(durationMs(duration) ?? 0);
    this.host.show(path, `${nameIn(path)}: waits until ${new Date(frame.until).toISOString()}`);
    await this.sleep(path, frame);
  }

  /** When something is due that begins now. */
  async dueIn(ms: number): Promise<number> {
    await this.host.refreshTime?.();
    return this.host.time() + ms;
  }

  /** Waits until the time of a frame has come, or the history is too long. */
  async sleep(path: string, frame: Frame): Promise<void> {
    const until = Math.min(frame.until ?? 0, this.endsAt + 1);
    await this.flush();
    const isOver = (): boolean => this.#isSuspending;
    if (until > this.host.time() && (await this.host.wait(isOver, until, path)))
      throw new Suspended();
    frame.until = undefined;
    this.#checkTime(path);
  }
}
