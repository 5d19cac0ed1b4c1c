import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { PricingLogic } from '../../models/catalog/pricing-logic.js';
import type { LogicProblem } from '../../rating/index.js';
import type * as schema from '../../schemas/catalog/rate-computation.js';
import { findProblems, loadKnownNames } from './pricing-logic-problems.js';
import { presentPricingLogic, pricingLogicOf } from './pricing-logic.js';
import { requireService } from './require-service.js';

export type RateComputationDto = Static<typeof schema.RateComputation>;
type ComputationCheckDto = Static<typeof schema.ComputationCheck>;
type FaultDto = ComputationCheckDto['errors'][number];

/** A pricing logic under the names of family B. */
export function presentComputation(logic: PricingLogic): RateComputationDto {
  const { id, name, seqNo, steps: exprList, ...computationOutput } = presentPricingLogic(logic);
  return {
    id,
    name,
    seqNo,
    serviceId: logic.serviceId,
    expressionList: { exprList, computationOutput },
  };
}

/** All computations of a service in their order. 404: there is no such service. */
export async function listComputations(
  { db, tenantId }: Scope,
  serviceId: string,
): Promise<RateComputationDto[]> {
  await requireService(db.read, tenantId, serviceId);
  const logics = await pricingLogicOf(db.read, tenantId, serviceId);
  return logics.map(presentComputation);
}

/** Where in the formula of its step a fault is. */
function presentFault({ step, position, message }: LogicProblem, logic: PricingLogic): FaultDto {
  const formula = logic.steps.find(({ name }) => name === step)?.formula;
  if (formula === undefined || position === null) {
    return { step, position, line: null, column: null, message };
  }
  const before = formula.slice(0, position - 1).split('\n');
  return { step, position, line: before.length, column: (before.at(-1) ?? '').length + 1, message };
}

/**
 * Checks the computations of a service against its present attributes and cards: a logic that was
 * valid when it was saved may use names removed since (docs/decisions/0031). 404: no such service.
 */
export async function checkComputations(
  { db, tenantId, now }: Scope,
  serviceId: string,
): Promise<ComputationCheckDto[]> {
  await requireService(db.read, tenantId, serviceId);
  const logics = await pricingLogicOf(db.read, tenantId, serviceId);
  const known = await loadKnownNames(db.read, tenantId, serviceId, utcDate(now()));
  const checks: ComputationCheckDto[] = [];
  for (const logic of logics) {
    const { id, name, seqNo } = logic;
    const problems = await findProblems(known, logic);
    const errors = problems.map((found) => presentFault(found, logic));
    checks.push({ id, name, seqNo, valid: errors.length === 0, errors });
  }
  return checks;
}
