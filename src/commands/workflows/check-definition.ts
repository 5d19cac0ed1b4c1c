import {
  isObject,
  pointerPart,
  shapeFaults,
  type Fault,
} from '../../kernel/expression/json-schema-check.js';
import { inPortions } from '../../kernel/portions.js';
import { jsonWithDoubles } from '../../kernel/text/json.js';
import {
  definitionLimits,
  durationMs,
  expressionIn,
  kindOf,
  taskKinds,
  type Definition,
  type Task,
  type TaskKind,
} from '../../messages/definitions/definition.js';
import { eventKindsText, isEventKind, isOwnEvent } from '../../messages/definitions/event.js';
import { headFaults, listFaults, taskNameForm } from '../../schemas/workflows/definition-check.js';
import { builtInFault, isBuiltIn } from '../../schemas/flows/flow-id.js';
import { ends, reservedNames } from '../../schemas/workflows/definition-names.js';
import { checkCall } from './check-call.js';
import { scheduleFaults } from './check-schedule.js';
import { expressionFaults, isWrittenOut } from './expression-faults.js';
import { usableTask } from './usable-task.js';

/** Names that every expression may use; `output` is known once a task has given it. */
const names = ['input', 'context', 'workflow'];
/** So that an answer stays small: pointers repeat the names that lead to them, which may be long. */
const faultsMax = 100;
const faultCharactersMax = 2 * definitionLimits.bytes;

/** What a definition is checked against. */
export interface CheckOptions {
  /** Names of the secrets that there are. */
  readonly secrets: ReadonlySet<string>;
  /** A name that is built in now, under which the tenant has had a workflow before. */
  readonly keptName?: string | undefined;
}

/** Checks a definition, and collects what is wrong with it. */
export class DefinitionCheck {
  readonly secrets: ReadonlySet<string>;
  readonly #keptName: string | undefined;
  readonly #found: (Fault | (() => readonly Fault[]))[] = [];
  #plain = 0;
  #tasks = 0;

  constructor({ secrets, keptName }: CheckOptions) {
    this.secrets = secrets;
    this.#keptName = keptName;
  }

  /** Faults that are known so far; expressions may have more. */
  get known(): number {
    return this.#plain;
  }

  add(pointer: string, message: string): void {
    if (this.#plain >= faultsMax) return;
    this.#plain += 1;
    this.#found.push({ pointer, message });
  }

  /**
   * The first faults in the order of the definition. Expressions are compiled only now: thousands of them
   * take half a second, and whoever asks may pause between them.
   */
  *faults(): Generator<undefined, Fault[], undefined> {
    const faults: Fault[] = [];
    let characters = 0;
    for (const found of this.#found) {
      for (const fault of typeof found === 'function' ? found() : [found]) {
        characters += fault.pointer.length + fault.message.length;
        const isMuch = characters > faultCharactersMax && faults.length > 0;
        if (isMuch || faults.length === faultsMax) return faults;
        faults.push(fault);
      }
      if (typeof found === 'function') yield;
    }
    return faults;
  }

  addAll(faults: readonly Fault[]): void {
    for (const { pointer, message } of faults) this.add(pointer, message);
  }

  definition(definition: unknown): void {
    this.addAll(headFaults(definition));
    if (!isObject(definition)) return;
    const { document, input, output, schedule } = definition as Partial<Definition>;
    const name = isObject(document) ? document['name'] : undefined;
    if (isBuiltIn(name) && name !== this.#keptName) this.add('/document/name', builtInFault(name));
    if (isObject(input) && isObject(input.schema)) {
      this.addAll(shapeFaults(input.schema.document, '/input/schema/document'));
    }
    if (isObject(output)) this.value(output.as, '/output/as', [...names, 'output']);
    if (isObject(schedule)) this.addAll(scheduleFaults(schedule, this));
    if (definition['do'] !== undefined) this.list(definition['do'], '/do', [], 0);
  }

  /** Tasks of a list; `own` are the names of loops and catches around it. */
  list(list: unknown, pointer: string, own: readonly string[], depth: number): void {
    if (depth > definitionLimits.depth) {
      this.add(pointer, `Tasks nest at most ${definitionLimits.depth} deep.`);
      return;
    }
    this.addAll(listFaults(list, pointer));
    if (!Array.isArray(list)) return;
    if (list.length > definitionLimits.tasks) {
      this.add(pointer, `A definition has at most ${definitionLimits.tasks} tasks.`);
      return;
    }
    const all = list.map((item) => (isObject(item) ? (Object.keys(item)[0] ?? '') : ''));
    for (const [index, item] of (list as unknown[]).entries()) {
      // What is no task is named with the list.
      if (!isObject(item) || Object.keys(item).length !== 1) continue;
      const name = all[index] ?? '';
      const place = `${pointer}/${index}${pointerPart(name)}`;
      if (!taskNameForm.test(name)) {
        this.add(place, `'${name.slice(0, 70)}' is no name of a task: letters, digits, _ and -.`);
      }
      if (ends.has(name))
        this.add(place, `'${name}' says where to go on, and is no name of a task.`);
      if (all.indexOf(name) !== index)
        this.add(place, `There are two tasks '${name}' in the list.`);
      this.task(item[name], place, { own, depth, later: new Set(all.slice(index + 1)) });
    }
  }

  task(
    task: unknown,
    pointer: string,
    around: { own: readonly string[]; depth: number; later: ReadonlySet<string> },
  ): void {
    this.#tasks += 1;
    if (this.#tasks === definitionLimits.tasks + 1) {
      this.add(pointer, `A definition has at most ${definitionLimits.tasks} tasks.`);
    }
    if (this.#tasks > definitionLimits.tasks) return;
    const kind = isObject(task) ? kindOf(task) : undefined;
    if (kind === undefined) {
      this.add(pointer, `A task has one of: ${taskKinds.join(', ')}.`);
      return;
    }
    const usable = usableTask(kind, task as Task, pointer);
    this.addAll(usable.faults);
    const { own, depth, later } = around;
    this.#flow(usable.task, pointer, own, later);
    if (!usable.isWhole) return;
    this.#inside(kind, usable.task, pointer, { own, depth: depth + 1, later });
  }

  #flow(task: Task, pointer: string, own: readonly string[], later: ReadonlySet<string>): void {
    const known = [...names, ...own];
    if (task.if !== undefined) this.condition(task.if, `${pointer}/if`, known);
    if (task.input?.schema) {
      this.addAll(shapeFaults(task.input.schema.document, `${pointer}/input/schema/document`));
    }
    if (task.input && 'from' in task.input) {
      this.value(task.input.from, `${pointer}/input/from`, known);
    }
    if (task.output) this.value(task.output.as, `${pointer}/output/as`, [...known, 'output']);
    if (task.export) this.value(task.export.as, `${pointer}/export/as`, [...known, 'output']);
    if (task.then !== undefined) this.target(task.then, `${pointer}/then`, later);
    const undo = task['durabill.undo'];
    if (undo?.call === 'durabill.approval') {
      const message = 'What takes a task back waits for nobody.';
      this.add(`${pointer}/durabill.undo/call`, message);
    } else if (undo) checkCall(this, undo, `${pointer}/durabill.undo`, [...known, 'output']);
  }

  #inside(
    kind: TaskKind,
    task: Task,
    pointer: string,
    { own, depth, later }: { own: readonly string[]; depth: number; later: ReadonlySet<string> },
  ): void {
    const known = [...names, ...own];
    if (kind === 'call') {
      checkCall(this, { call: task.call ?? '', with: task.with }, pointer, known);
    } else if (kind === 'do') this.list(task.do, `${pointer}/do`, own, depth);
    else if (kind === 'for') this.#for(task, pointer, own, depth);
    else if (kind === 'fork') this.#fork(task, pointer, own, depth);
    else if (kind === 'switch') {
      for (const [index, item] of (task.switch ?? []).entries()) {
        const [[name, one] = ['', undefined]] = Object.entries(item);
        const place = `${pointer}/switch/${index}${pointerPart(name)}`;
        if (one?.when !== undefined) this.condition(one.when, `${place}/when`, known);
        this.target(one?.then ?? '', `${place}/then`, later);
      }
    } else if (kind === 'set') this.value(task.set, `${pointer}/set`, known);
    else if (kind === 'try') this.#try(task, pointer, own, depth);
    else if (kind === 'raise') {
      this.value(task.raise?.error, `${pointer}/raise/error`, known);
    } else if (kind === 'wait') this.#wait(task.wait ?? {}, `${pointer}/wait`);
    else if (kind === 'listen') this.#listen(task, pointer, known);
    else this.#emit(task, pointer, known);
  }

  #for(task: Task, pointer: string, own: readonly string[], depth: number): void {
    const each = task.for?.each ?? 'item';
    const at = task.for?.at ?? 'index';
    this.variable(each, `${pointer}/for/each`);
    this.variable(at, `${pointer}/for/at`);
    if (each === at) this.add(`${pointer}/for/at`, `'${at}' is the name of the element, too.`);
    this.condition(task.for?.in ?? '', `${pointer}/for/in`, [...names, ...own], 'list');
    const inner = [...new Set([...own, each, at])];
    if (task.while !== undefined) {
      this.condition(task.while, `${pointer}/while`, [...names, ...inner]);
    }
    this.list(task.do, `${pointer}/do`, inner, depth);
  }

  #fork(task: Task, pointer: string, own: readonly string[], depth: number): void {
    const branches = task.fork?.branches ?? [];
    if (branches.length > definitionLimits.branches) {
      this.add(
        `${pointer}/fork/branches`,
        `There are at most ${definitionLimits.branches} branches.`,
      );
    }
    this.list(branches, `${pointer}/fork/branches`, own, depth);
    for (const [index, branch] of branches.entries()) {
      if (!isObject(branch)) continue;
      const [[name, one] = ['', undefined]] = Object.entries(branch);
      if (one?.then === undefined || one.then === 'continue') continue;
      const place = `${pointer}/fork/branches/${index}${pointerPart(name)}/then`;
      this.add(place, 'Branches run side by side: none goes on to another.');
    }
  }

  #try(task: Task, pointer: string, own: readonly string[], depth: number): void {
    this.list(task.try, `${pointer}/try`, own, depth);
    const { as = 'error', when, exceptWhen, retry, do: handler } = task.catch ?? {};
    this.variable(as, `${pointer}/catch/as`);
    const inner = [...new Set([...own, as])];
    if (when !== undefined) this.condition(when, `${pointer}/catch/when`, [...names, ...inner]);
    if (exceptWhen !== undefined) {
      this.condition(exceptWhen, `${pointer}/catch/exceptWhen`, [...names, ...inner]);
    }
    if (retry?.delay !== undefined) this.#wait(retry.delay, `${pointer}/catch/retry/delay`);
    if (handler !== undefined) this.list(handler, `${pointer}/catch/do`, inner, depth);
  }

  #wait(duration: NonNullable<Task['wait']>, pointer: string): void {
    const ms = durationMs(duration);
    if (ms === undefined) this.add(pointer, 'is no duration, such as PT1H or {"hours": 1}');
    else if (ms > definitionLimits.ms) this.add(pointer, 'is longer than 31 days');
  }

  #listen({ listen }: Task, pointer: string, known: readonly string[]): void {
    const { one, any } = listen?.to ?? {};
    if ((one === undefined) === (any === undefined)) {
      this.add(`${pointer}/listen/to`, "must have 'one' or 'any'");
    }
    const filters = one
      ? [['/one', one] as const]
      : (any ?? []).map((each, index) => [`/any/${index}`, each] as const);
    for (const [place, { with: filter }] of filters) {
      const kind = filter.type.slice(0, 100);
      const at = `${pointer}/listen/to${place}/with/type`;
      if (!isEventKind(kind)) this.add(at, `'${kind}' must be one of: ${eventKindsText}`);
      else if (kind === 'usage.rated') {
        this.add(at, 'There are thousands of it in a second: use an alert, or schedule.on.');
      }
      if (filter.data === undefined) continue;
      this.condition(filter.data, `${pointer}/listen/to${place}/with/data`, [...known, 'data']);
    }
    if (listen?.timeout !== undefined) this.#wait(listen.timeout, `${pointer}/listen/timeout`);
  }

  #emit({ emit }: Task, pointer: string, known: readonly string[]): void {
    const { type = '', data } = emit?.event.with ?? {};
    if (!isOwnEvent(type)) {
      const message = `'${type.slice(0, 100)}' is no event of your own: custom. and small letters, digits, - and _`;
      this.add(`${pointer}/emit/event/with/type`, message);
    }
    this.value(data, `${pointer}/emit/event/with/data`, known);
  }

  target(name: string, pointer: string, later: ReadonlySet<string>): void {
    if (ends.has(name) || later.has(name)) return;
    const others = [...later].slice(0, 20).join(', ');
    this.add(
      pointer,
      `'${name.slice(0, 70)}' is no later task of this list: one never goes back. Known are: ${['continue', 'exit', 'end', others].filter(Boolean).join(', ')}.`,
    );
  }

  variable(name: string, pointer: string): void {
    if (reservedNames.has(name)) this.add(pointer, `'${name}' has a meaning of its own.`);
  }

  /** A text that must be an expression, and one that can give what is asked of it. */
  condition(
    text: string,
    pointer: string,
    known: readonly string[],
    wanted: 'bool' | 'list' = 'bool',
  ): void {
    const expression = expressionIn(text);
    if (expression === undefined) this.add(pointer, 'must be an expression: ${ ... }');
    else this.expression(expression, pointer, known, wanted);
  }

  expression(
    expression: string,
    pointer: string,
    known: readonly string[],
    wanted?: 'bool' | 'list',
  ): void {
    const { secrets } = this;
    this.#found.push(() => expressionFaults(expression, pointer, { known, secrets, wanted }));
  }

  /** A text that must not be written into the definition, as a text or as an expression that reads nothing. */
  read(text: string, pointer: string, known: readonly string[], message: string): void {
    const expression = expressionIn(text);
    if (expression === undefined) this.add(pointer, message);
    else {
      this.#found.push(() => (isWrittenOut(expression, known) ? [{ pointer, message }] : []));
    }
  }

  /** A value whose texts may be expressions. */
  value(value: unknown, pointer: string, known: readonly string[], depth = 0): void {
    if (depth > definitionLimits.depth) {
      this.add(pointer, `A value nests at most ${definitionLimits.depth} deep.`);
    } else if (typeof value === 'string') {
      const expression = expressionIn(value);
      if (expression !== undefined) this.expression(expression, pointer, known);
      else if (value.includes('${')) {
        this.add(pointer, 'An expression is the whole text: \'${ "Dear " + input.name }\'.');
      }
    } else if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) {
        this.value(one, `${pointer}/${index}`, known, depth + 1);
      }
    } else if (isObject(value)) {
      for (const [name, one] of Object.entries(value)) {
        this.value(one, pointer + pointerPart(name), known, depth + 1);
      }
    }
  }
}

function* faultsOf(
  definition: unknown,
  options: CheckOptions,
): Generator<undefined, Fault[], undefined> {
  const bytes = Buffer.byteLength(JSON.stringify(definition ?? null));
  if (bytes > definitionLimits.bytes) {
    return [{ pointer: '', message: `A definition has at most ${definitionLimits.bytes} bytes.` }];
  }
  const check = new DefinitionCheck(options);
  // As it is executed.
  check.definition(jsonWithDoubles(definition));
  return yield* check.faults();
}

/** All that is wrong with a definition, each fault at its place (spec/beyond.md R323). */
export function definitionFaults(definition: unknown, options: CheckOptions): Fault[] {
  const checking = faultsOf(definition, options);
  for (;;) {
    const { done, value } = checking.next();
    if (done === true) return value;
  }
}

/** The same, in portions: others of the process have their turn in between. */
export const definitionFaultsInTurns = (
  definition: unknown,
  options: CheckOptions,
): Promise<Fault[]> => inPortions(faultsOf(definition, options));
