import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { PricingLogic } from '../../models/catalog/pricing-logic.js';
import {
  presentComputation,
  type RateComputationDto,
} from '../../queries/catalog/rate-computation.js';
import type * as schema from '../../schemas/catalog/rate-computation.js';
import { lockService } from './lock-service.js';
import { namedInBody } from '../rules/named-in-body.js';
import {
  changePricingLogic,
  insertPricingLogic,
  newColumns,
  removePricingLogic,
  type LogicFields,
} from './pricing-logic.js';
import { requireSameId } from '../rules/same-id.js';

/*
 * Rate computations are pricing logic under other names, known by their id alone (spec/platform.md
 * R10).
 */

type ComputationCreate = Static<typeof schema.RateComputationCreate>;
type ComputationUpdate = Static<typeof schema.RateComputationUpdate>;

const fields: LogicFields = {
  steps: 'expressionList.exprList',
  priceOutput: 'expressionList.computationOutput.priceOutput',
};

/** The parts of a logic that an expression list holds. */
const logicOf = ({ exprList: steps, computationOutput }: ComputationCreate['expressionList']) => ({
  ...computationOutput,
  steps,
});

/** Adds a computation at its place. 400: no such service, or the formulas are not valid. */
export async function createComputation(
  scope: Scope,
  { serviceId, name, seqNo, expressionList }: ComputationCreate,
): Promise<RateComputationDto> {
  return scope.db.transaction(async (trx) => {
    const service = await namedInBody('serviceId', serviceId, () =>
      lockService(trx, scope, serviceId),
    );
    const logic = { name, ...logicOf(expressionList) };
    const options = { after: seqNo - 1, fields };
    const [created] = await insertPricingLogic(trx, scope, service.id, [logic], options);
    if (!created) throw new Error('An insert of one computation returned none.');
    return presentComputation(created);
  });
}

/** Changes a computation in one transaction that holds its service. 404: there is none. */
async function changeComputation<T>(
  scope: Scope,
  id: string,
  change: (trx: Knex.Transaction, serviceId: string) => Promise<T>,
): Promise<T> {
  return scope.db.transaction(async (trx) => {
    const logic = await PricingLogic.query(trx).forTenant(scope.tenantId).existing().findById(id);
    if (!logic) throw problem.notFound(`There is no rate computation '${id}'.`);
    const service = await lockService(trx, scope, logic.serviceId);
    return change(trx, service.id);
  });
}

/**
 * Changes what is given; the expression list is replaced as a whole. 400: the formulas are not valid,
 * or another service is named. 404: there is no such computation.
 */
export async function updateComputation(
  scope: Scope,
  id: string,
  { serviceId: given, name, seqNo, expressionList }: ComputationUpdate,
): Promise<RateComputationDto> {
  return changeComputation(scope, id, async (trx, serviceId) => {
    requireSameId('serviceId', given, serviceId);
    const change = {
      ...defined({ name, seqNo }),
      ...(expressionList === undefined ? {} : newColumns(logicOf(expressionList))),
    };
    return presentComputation(await changePricingLogic(trx, scope, serviceId, id, change, fields));
  });
}

/** Deletes a computation; the others keep their places. 404: there is none. */
export async function deleteComputation(scope: Scope, id: string): Promise<void> {
  await changeComputation(scope, id, (trx, serviceId) =>
    removePricingLogic(trx, scope, serviceId, id),
  );
}
