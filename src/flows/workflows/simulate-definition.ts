import { setImmediate as nextTurn } from 'node:timers/promises';
import { Interpreter } from '../../interpreter/interpreter.js';
import type { DefinitionState } from '../../interpreter/state.js';
import { TaskError } from '../../interpreter/task-error.js';
import { undoAll } from '../../interpreter/undo.js';
import { valueFaults } from '../../kernel/expression/json-schema-check.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { jsonWithDoubles } from '../../kernel/text/json.js';
import { definitionLimits, type TaskList } from '../../messages/definitions/definition.js';
import { findDefinition, missingWorkflow } from '../../queries/workflows/definition.js';
import { workflowNames } from '../../schemas/flows/flow-id.js';
import type { DryRunBody, DryRunDto } from '../../schemas/workflows/dry-run.js';
import { DryHost, DryRunStopped, type FakeResult } from './dry-host.js';

/** Of all expressions of a dry run together: about a second of a processor. */
const costMax = 1_000_000;
const noId = '00000000-0000-0000-0000-000000000000';

/** The names and paths of all tasks of a list. */
function placesIn(list: TaskList, path: string, found: Set<string>): Set<string> {
  for (const [index, item] of list.entries()) {
    for (const [name, task] of Object.entries(item)) {
      const place = `${path}/${index}/${name}`;
      found.add(name).add(place);
      placesIn(task.do ?? [], `${place}/do`, found);
      placesIn(task.try ?? [], `${place}/try`, found);
      placesIn(task.catch?.do ?? [], `${place}/catch/do`, found);
      placesIn(task.fork?.branches ?? [], `${place}/fork/branches`, found);
    }
  }
  return found;
}

type Results = Readonly<Record<string, FakeResult | readonly FakeResult[]>>;

/** Finds what a task is said to give: of several the next one, and the last one from then on. */
function resultsOf(results: Results): (path: string, isNext: boolean) => FakeResult | undefined {
  const turns = new Map<string, number>();
  return (path, isNext) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const key = Object.hasOwn(results, path) ? path : name;
    if (!Object.hasOwn(results, key)) return undefined;
    const found = results[key];
    if (!Array.isArray(found)) return found as FakeResult;
    const turn = turns.get(key) ?? 0;
    if (isNext) turns.set(key, turn + 1);
    return (found as readonly FakeResult[])[Math.min(turn, found.length - 1)];
  };
}

/** Of what failed: what would be taken back. */
async function undoneIn(state: DefinitionState, host: DryHost): Promise<string[]> {
  const undone = await undoAll(state, {
    call: ({ seq, call, with: given, isUndo }, path) =>
      Promise.resolve(host.make({ seq, path, call, with: given, isUndo })),
    read: (block) => Promise.resolve(host.undos.get(block) ?? []),
    isHistoryLong: () => host.isHistoryLong(),
    isLastFault: (error) => error instanceof DryRunStopped,
  });
  return undone ?? [];
}

const ended = { output: null, error: null, undone: [] };

/** How the work of a dry run ends, and what it would take back. */
async function endOf(
  { work, interpreter }: { readonly work: Promise<unknown>; readonly interpreter: Interpreter },
  state: DefinitionState,
  host: DryHost,
) {
  try {
    return { ...ended, status: 'completed' as const, output: (await work) ?? null };
  } catch (error) {
    if (!(error instanceof TaskError)) throw error;
    await interpreter.flush();
    const undone = await undoneIn(state, host);
    return { ...ended, status: 'failed' as const, error: { ...error.fault }, undone };
  }
}

/** How a dry run ends; one that has to end before it is done has not failed. */
async function carryOut(...given: Parameters<typeof endOf>) {
  try {
    return await endOf(...given);
  } catch (error) {
    if (!(error instanceof DryRunStopped)) throw error;
    return { ...ended, status: 'stopped' as const, error: { detail: error.message } };
  }
}

/**
 * Runs a workflow of the tenant dry, with the interpreter that runs it (spec/beyond.md R346): nothing is
 * called and nothing written. 400: its input is not as the schema says, or a result is of no task. 404:
 * there is no such workflow. 409: it is built in.
 */
export async function simulateDefinition(
  scope: Scope,
  key: string,
  { input = {}, results = {} }: DryRunBody,
): Promise<DryRunDto> {
  if (workflowNames.includes(key)) {
    throw problem.conflict(`'${key}' is built in: it has no definition that could run dry.`);
  }
  const found = await findDefinition(scope, key);
  if (!found) throw missingWorkflow(key);
  const { id, name, version, definition } = found;
  const start = jsonWithDoubles(input) as Record<string, unknown>;
  // An input of a mebibyte is read, checked and carried out in turns of their own: others wait meanwhile.
  await nextTurn();
  const [fault] = valueFaults(start, definition.input?.schema?.document);
  if (fault) {
    throw problem.validation(`'input${fault.pointer}' ${fault.message}`, {
      field: `input${fault.pointer}`,
    });
  }
  await nextTurn();
  const places = placesIn(definition.do, '/do', new Set());
  const unknown = Object.keys(results).find((place) => !places.has(place));
  if (unknown !== undefined) {
    const known = [...places].slice(0, 50).join(', ');
    const message = `'results' has '${unknown.slice(0, 100)}', which is no task. Known are: ${known}.`;
    throw problem.validation(message, { field: 'results' });
  }
  const isAbandoned = (): boolean => scope.db.isAbandoned === true;
  const host = new DryHost(scope.now().getTime(), resultsOf(results), isAbandoned);
  const startedMs = host.now();
  const state: DefinitionState = {
    seq: 0,
    context: {},
    cost: definitionLimits.cost - costMax,
    startedMs,
    secretMark: 'dry-run',
    undo: [],
    root: {},
  };
  const startedAt = new Date(startedMs).toISOString();
  const workflow = {
    id: noId,
    definition: { id, name, version },
    startedAt,
    tenant: scope.tenantId,
    startedBy: scope.actor,
    input: start,
  };
  const interpreter = new Interpreter(state, host);
  const work = interpreter.run(definition, start, { workflow });
  const end = await carryOut({ work, interpreter }, state, host);
  const tasks = [...host.rows.values()].sort((left, right) => left.seq - right.seq);
  return {
    workflowId: id,
    version,
    ...end,
    startedAt,
    endedAt: new Date(host.now()).toISOString(),
    tasks: tasks.map(({ input: given = null, output = null, error = null, endedAt, ...task }) => ({
      ...task,
      input: given,
      output,
      error,
      endedAt: endedAt ?? null,
    })),
    calls: host.calls,
  };
}
