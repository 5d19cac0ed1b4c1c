import { ApplicationFailure } from '@temporalio/common';
import { recordWorkflowEnds } from '../../commands/flows/workflow-end.js';
import { within, type Scope } from '../../kernel/scope.js';
import { isRepeatable } from '../../kernel/sql-state.js';
import { stringifyJson } from '../../kernel/text/json.js';
import {
  itemWorkflowId,
  type FlowBatchCounts,
  type FlowBatchInput,
  type FlowBatchItem,
  type FlowBatchPart,
} from '../../messages/flow-batch.js';
import { itemExecutionId } from '../../queries/flows/flow-batch.js';
import {
  problemFailureType,
  type FlowFailure,
  type FlowInput,
  type FlowRun,
} from '../../messages/flow-run.js';
import { Execution, type EndedItem } from '../../models/flows/execution.js';
import type { Platform } from '../../process/platform.js';
import { resolveEach } from '../../queries/keys/resolve-natural-keys.js';
import { flowBody } from '../../schemas/flows/flow.js';
import { flows, type FlowWorkflow } from '../../schemas/flows/index.js';
import { activityFailure, flowFailure } from '../failure.js';
import { flowStep, outerScope, type StepCall, type StepWork } from './flow-step.js';
import { currentPlace } from './step-once.js';
import { inStartNames } from './start-names.js';
import type { SlugStep } from './start-node.js';

/** An item with the id of its execution. */
interface Item extends FlowBatchItem {
  readonly executionId: string;
}

/** What came of an item. */
type Outcome = Pick<EndedItem, 'status' | 'output' | 'error'>;

type BatchStep = Pick<SlugStep<FlowInput, unknown>, 'work' | 'together'>;

/** Some items to run. */
type Part = StepCall<FlowBatchPart> & { readonly run: FlowRun<FlowBatchInput> };

/**
 * Characters of outputs after which a transaction ends: an output may be a mebibyte, and a hundred of them
 * in one statement held the process for seconds (docs/decisions/0549).
 */
const outputsMax = 1024 * 1024;

/** Attempts of a transaction that fails because of others that hold its rows in another order. */
const contestsMax = 5;

const internal: FlowFailure = {
  kind: 'internal',
  message: 'Something went wrong on our side.',
  details: {},
};

/** What a caller is told of an error of an item; undefined where the item may yet succeed. */
function failureOf(error: unknown, flow: string): FlowFailure | undefined {
  const found = activityFailure(error, (one) => inStartNames(one, flow));
  if (!(found instanceof ApplicationFailure)) return internal;
  return found.type === problemFailureType ? (found.details?.[0] as FlowFailure) : undefined;
}

/** Runs items of one step of a batch: in one transaction where all succeed and no output is long. */
class ItemRun {
  readonly #platform: Platform;
  readonly #run: FlowRun<FlowBatchInput>;
  readonly #scope: Scope;
  readonly #step: BatchStep;

  constructor(platform: Platform, run: FlowRun<FlowBatchInput>, scope: Scope, step: BatchStep) {
    this.#platform = platform;
    this.#run = run;
    this.#scope = scope;
    this.#step = step;
  }

  /**
   * Does what is not done yet. An item that fails undoes the transaction that it is in, so the
   * items are divided in halves until it is alone: then its failure is recorded.
   */
  async run(items: readonly Item[]): Promise<void> {
    const [first] = items;
    if (first === undefined) return;
    try {
      await this.#together(items);
    } catch (error) {
      const failure = failureOf(error, this.#run.input.flow);
      if (failure === undefined) throw activityFailure(error);
      if (items.length === 1) {
        if (failure === internal) this.#log(error, first);
        return this.fail(first, failure);
      }
      const half = Math.ceil(items.length / 2);
      await this.run(items.slice(0, half));
      await this.run(items.slice(half));
    }
  }

  #log(err: unknown, { executionId }: Item): void {
    const { requestId, tenantId } = this.#run;
    this.#platform.log.error({ err, executionId, requestId, tenantId }, 'an item failed');
  }

  async #together(items: readonly Item[]): Promise<void> {
    let left = items;
    while (left.length > 0) left = left.slice(await this.#firstOf(left));
  }

  /** Does as many of the items as one transaction records; returns their number. */
  async #firstOf(items: readonly Item[]): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#record(items, (scope, open) => this.#outcomes(scope, open));
      } catch (error) {
        if (!isRepeatable(error) || attempt === contestsMax) throw error;
      }
    }
  }

  /** Does items: all at once where their step can, else each when the one before it is recorded. */
  async *#outcomes(scope: Scope, items: readonly Item[]): AsyncGenerator<Outcome[]> {
    const { work, together } = this.#step;
    const completed = (output: unknown): Outcome => ({ status: 'completed', output, error: null });
    if (together) {
      const outputs = await together(
        scope,
        items.map(({ input }) => input),
      );
      yield outputs.map(completed);
      return;
    }
    for (const { input, executionId } of items) {
      yield [completed(await work(scope, input, executionId))];
    }
  }

  /** Records that an item failed, unless it has ended. */
  async fail(item: Item, error: FlowFailure): Promise<void> {
    await this.#record([item], () => [[{ status: 'failed', output: null, error }]]);
  }

  /**
   * Does and records items in one transaction, up to `outputsMax`; returns how many it went through. It
   * locks the execution of the batch, so that two attempts of one step do not do an item twice. `end` tells
   * the outcomes of items in their order, and need not be asked for all.
   */
  #record(
    items: readonly Item[],
    end: (scope: Scope, open: readonly Item[]) => AsyncIterable<Outcome[]> | Iterable<Outcome[]>,
  ): Promise<number> {
    const { flow: workflow, items: all } = this.#run.input;
    const run = { ...this.#run, input: { flow: workflow, items: all.length } };
    const place = currentPlace();
    const startedAt = this.#platform.now();
    return this.#scope.db.transaction(async (trx) => {
      await Execution.begin(trx, run, place, 'items');
      const ids = items.map(({ executionId }) => executionId);
      const known = await Execution.findEnds(trx, run.tenantId, ids);
      const scope = within(this.#scope, trx);
      const open = items.filter(({ executionId }) => !known.has(executionId));
      const ends: EndedItem[] = [];
      let length = 0;
      for await (const outcomes of open.length === 0 ? [] : end(scope, open)) {
        for (const outcome of outcomes) {
          const item = open[ends.length] as Item;
          const workflowId = itemWorkflowId(place.workflowId, item.index);
          const answer = stringifyJson(outcome.error ?? outcome.output ?? null);
          ends.push({ id: item.executionId, workflowId, input: item.input, answer, ...outcome });
          length += answer.length;
        }
        if (length >= outputsMax) break;
      }
      const next = open[ends.length];
      const at = { startedAt, completedAt: this.#platform.now() };
      const { runId } = place;
      await Execution.insertItems(trx, run, { workflow, runId }, ends, at);
      await recordWorkflowEnds(
        trx,
        scope,
        ends.map(({ id: executionId, status, output }) => ({
          executionId,
          workflow,
          status,
          output,
        })),
      );
      return next === undefined ? items.length : items.indexOf(next);
    });
  }
}

export function flowBatchActivities(
  platform: Platform,
  steps: readonly SlugStep<never, unknown>[],
) {
  const known = new Map<string, BatchStep>(
    steps.map(({ flow, work, together }) => [
      flow,
      { work: work as StepWork<FlowInput, unknown>, together },
    ]),
  );
  for (const flow of Object.keys(flows) as FlowWorkflow[]) {
    if (!known.has(flow)) throw new Error(`The flow ${flow} has no step: see slugStep.`);
  }
  return {
    /** Runs some items of a batch; those that an earlier attempt has done stay as they are. */
    async runFlowItems({ run, input: { from, end } }: Part): Promise<FlowBatchCounts> {
      const items = run.input.items.slice(from, end).map((item) => ({
        ...item,
        executionId: itemExecutionId(run.executionId, item.index),
      }));
      const flow = run.input.flow as FlowWorkflow;
      const step = known.get(flow) as BatchStep;
      try {
        const scope = await outerScope(platform, run);
        const itemRun = new ItemRun(platform, run, scope, step);
        const starts = items.map((item) => item.input.start);
        const refused = await resolveEach(scope, flowBody(flows[flow]), starts);
        for (const item of items) {
          const found = refused.get(item.input.start);
          if (found) await itemRun.fail(item, flowFailure(found));
        }
        await itemRun.run(items.filter((item) => !refused.has(item.input.start)));
        const ids = items.map(({ executionId }) => executionId);
        const statuses = [...(await Execution.findEnds(scope.db.read, run.tenantId, ids)).values()];
        const completed = statuses.filter((status) => status === 'completed').length;
        return { completed, failed: statuses.length - completed };
      } catch (error) {
        throw activityFailure(error);
      }
    },
    endFlowBatch: flowStep(platform, (_scope, counts: FlowBatchCounts) => Promise.resolve(counts)),
  };
}
