import { compileExpression } from '../kernel/expression/expression.js';
import { isObject } from '../kernel/expression/json-schema-check.js';
import { definitionLimits, durationMs, expressionIn } from '../messages/definitions/definition.js';
import { eventLimits, type AskedListener } from '../messages/definitions/event.js';
import { nameIn } from '../messages/definitions/task.js';
import type { Block } from './for-fork-try.js';
import type { Interpreter } from './interpreter.js';
import { Suspended, taskError } from './task-error.js';
import type { Variables } from './values.js';

/** Emits an event of the tenant, once (spec/beyond.md R348). */
export async function runEmit(on: Interpreter, { task, path, variables, frame }: Block) {
  const { type = '', data: asked = {} } = task.emit?.event.with ?? {};
  const data = on.values.of(asked, variables, path);
  if (!isObject(data)) throw taskError(path, 400, 'What an event says is an object.');
  on.values.checkResult(data, path);
  const { length } = JSON.stringify(data);
  if (length > eventLimits.data) {
    const detail = `What the event says has ${length} characters, more than ${eventLimits.data}.`;
    throw taskError(path, 400, detail);
  }
  await on.flush();
  on.host.show(path, `${nameIn(path)}: emits ${type}`);
  await on.host.emit({ seq: frame.seq ?? 0, type, data });
  return variables['input'];
}

/** What conditions read of the variables of an execution, and no more: it is kept until the event comes. */
function readBy(conditions: readonly string[], variables: Variables): Record<string, unknown> {
  const known = [...Object.keys(variables), 'data'];
  const found: Record<string, unknown> = {};
  for (const condition of conditions) {
    const compiled = compileExpression(expressionIn(condition) ?? condition, known);
    for (const name of compiled.variables) {
      if (name === 'data') continue;
      const fields = compiled.fieldsOf(name);
      const value = variables[name];
      if (fields.includes('*') || !isObject(value)) found[name] = value ?? null;
      else {
        const some = fields.filter((field) => Object.hasOwn(value, field));
        found[name] = {
          ...Object.fromEntries(some.map((field) => [field, value[field]])),
          ...(isObject(found[name]) ? found[name] : {}),
        };
      }
    }
  }
  return found;
}

function askedOf(on: Interpreter, { task, path, variables, frame }: Block): AskedListener {
  const { one, any = [] } = task.listen?.to ?? {};
  const filters = (one ? [one] : any).map((each) => each.with);
  const conditions = filters.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const read = readBy(conditions, { ...variables, context: on.context });
  const { length } = JSON.stringify(read);
  if (length > eventLimits.variables) {
    const detail = `What the conditions read has ${length} characters, more than ${eventLimits.variables}: name single fields.`;
    throw taskError(path, 400, detail);
  }
  return { seq: frame.seq ?? 0, filters, variables: read, forget: on.takeHeard() };
}

/**
 * Waits for an event of the tenant, in the order in which they were written, from the moment on at which
 * the task begins (spec/beyond.md R349). As with approvals, a signal only says that there is something to see.
 */
export async function runListen(on: Interpreter, block: Block): Promise<unknown> {
  const { host } = on;
  const { task, path, frame } = block;
  const seq = frame.seq ?? 0;
  const asked = frame.listening === undefined ? askedOf(on, block) : undefined;
  await on.flush();
  try {
    let isFresh = asked !== undefined;
    if (asked) await host.openListener(asked, path);
    const ms = durationMs(task.listen?.timeout ?? '') ?? definitionLimits.ms;
    const { until } = (frame.listening ??= { until: Math.min(await on.dueIn(ms), on.endsAt + 1) });
    host.show(path, `${nameIn(path)}: waits for an event until ${new Date(until).toISOString()}`);
    for (;;) {
      const isOver = host.time() >= until;
      if (!isFresh) {
        const heard = await host.lookAtListener({ seq, isEnding: isOver });
        if (heard) {
          on.noteHeard(seq);
          return [task.listen?.read === 'envelope' ? heard : heard.data];
        }
        if (isOver)
          throw taskError(path, 408, 'The event did not come in time.', { title: 'Timeout' });
      }
      isFresh = false;
      const isStopped = (): boolean => on.isSuspending || host.isHeard(seq);
      if (!isOver) await host.wait(isStopped, until, path);
      if (on.isSuspending) throw new Suspended();
    }
  } catch (error) {
    if (host.isCancellation(error)) await host.lookAtListener({ seq, isEnding: true });
    throw error;
  }
}
