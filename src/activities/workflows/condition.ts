import { parseStoredInPortions } from '../../kernel/text/json-portions.js';
import { jsonWithDoublesInPortions } from '../../kernel/text/json-write-portions.js';
import { CostFault, ExpressionFault } from '../../kernel/expression/expression-fault.js';
import { lookThrough } from '../../kernel/expression/expression-value.js';
import { compileExpression, conditionCostMax } from '../../kernel/expression/expression.js';
import { expressionIn } from '../../messages/definitions/definition.js';
import { ConditionFault, type NewConditionFault } from '../../models/workflows/condition-fault.js';
import type { Platform } from '../../process/platform.js';
import { watchScope } from '../scope.js';

/** What an event says, as workflows and their conditions are given it; it may be a mebibyte. */
export async function dataOfEvent(body: string): Promise<Record<string, unknown>> {
  const { data } = (await jsonWithDoublesInPortions(await parseStoredInPortions(body))) as {
    readonly data: Record<string, unknown>;
  };
  await lookThrough(data);
  return data;
}

/**
 * Whether a condition on an event holds. One that fails or costs too much does not, and neither does what is
 * not true or false; `complain` is told why.
 */
export function holds(
  condition: string | null | undefined,
  variables: Readonly<Record<string, unknown>>,
  complain: (fault: ExpressionFault) => void,
): boolean {
  if (condition === null || condition === undefined) return true;
  try {
    const text = expressionIn(condition) ?? condition;
    const expression = compileExpression(text, Object.keys(variables));
    const value = expression.evaluate(variables, undefined, conditionCostMax);
    if (typeof value !== 'boolean') throw new ExpressionFault('It gave neither true nor false.');
    return value;
  } catch (error) {
    if (!(error instanceof ExpressionFault)) throw error;
    complain(error);
    return false;
  }
}

/** A condition that could not be evaluated for an event of a tenant. */
interface FailedCondition extends Omit<NewConditionFault, 'reason'> {
  readonly tenantId: string;
  readonly fault: ExpressionFault;
}

/** Characters of a reason: it may quote what an event says. */
const reasonMax = 500;

/**
 * Says where conditions could not be evaluated, so that an event is lost to nobody in silence: in the log and
 * to the tenant once a minute for each workflow, whatever happens in it, and in the metrics always. Of each
 * workflow the last one is held, however many fail.
 */
export class FailedConditions {
  readonly #platform: Platform;
  readonly #ofTenants = new Map<string, Map<string, FailedCondition>>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  add(failed: FailedCondition): void {
    const { tenantId, definitionId, fault } = failed;
    const reason = fault instanceof CostFault ? 'cost' : 'failed';
    this.#platform.metrics.conditionFaults.inc({ reason });
    const ofTenant = this.#ofTenants.get(tenantId) ?? new Map<string, FailedCondition>();
    this.#ofTenants.set(tenantId, ofTenant.set(definitionId, failed));
  }

  /** Notes those that were added. */
  async note(): Promise<void> {
    for (const [tenantId, ofTenant] of this.#ofTenants) {
      try {
        await noteOfTenant(this.#platform, tenantId, ofTenant);
      } catch (error) {
        // What else is started must not wait for it.
        const message = 'cannot note that conditions have failed';
        this.#platform.log.warn({ err: error, tenantId }, message);
      }
    }
  }
}

async function noteOfTenant(
  platform: Platform,
  tenantId: string,
  byDefinition: ReadonlyMap<string, FailedCondition>,
): Promise<void> {
  const { db } = await watchScope(platform, tenantId, 'workflow-condition');
  const last = [...byDefinition.values()].map(({ fault, ...one }) => ({
    ...one,
    reason: fault.message.slice(0, reasonMax),
  }));
  const noted = await db.transaction((trx) =>
    ConditionFault.note(trx, tenantId, platform.now(), last),
  );
  for (const { definitionId, version, event, executionId } of noted) {
    // A reason may quote what an event says, and no log does.
    const isDear = byDefinition.get(definitionId)?.fault instanceof CostFault;
    const reason = isDear ? 'it costs more than it may' : 'it cannot be evaluated';
    platform.log.warn(
      { tenantId, workflowId: definitionId, version, event, executionId, reason },
      'a condition of a workflow has failed, and so does not hold for an event',
    );
  }
}
