import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Attribute } from '../../models/catalog/attribute.js';
import { PricingLogic } from '../../models/catalog/pricing-logic.js';
import { loadAttributes } from '../../queries/catalog/attribute.js';
import {
  findPricingLogic,
  presentPricingLogic,
  pricingLogicOf,
  type PricingLogicDto,
} from '../../queries/catalog/pricing-logic.js';
import {
  findProblems,
  loadKnownNames,
  type KnownNames,
} from '../../queries/catalog/pricing-logic-problems.js';
import type { LogicProblem } from '../../rating/index.js';
import type * as schema from '../../schemas/catalog/pricing-logic.js';
import { insertAttributes } from './attribute.js';
import { lockService } from './lock-service.js';
import { requireServiceFits } from '../rules/size-limits.js';

type LogicInput = Static<typeof schema.PricingLogicWrite>;
type LogicChange = Static<typeof schema.PricingLogicUpdate>;

/** What the request calls the parts of a logic, for messages. */
export interface LogicFields {
  readonly steps: string;
  readonly priceOutput: string;
}

const fieldsAt = (at: string): LogicFields => ({
  steps: `${at}steps`,
  priceOutput: `${at}priceOutput`,
});

function describe({ step, position, message }: LogicProblem): string {
  const where = step === null ? '' : `step '${step}': `;
  return `${where}${message}${position === null ? '' : ` (character ${position})`}`;
}

const loadNames = (trx: Knex.Transaction, scope: Scope, serviceId: string): Promise<KnownNames> =>
  loadKnownNames(trx, scope.tenantId, serviceId, utcDate(scope.now()));

/**
 * 400: a formula does not parse, references an unknown name or costs too much, or priceOutput names
 * no step.
 */
async function requireValid(
  known: KnownNames,
  logic: Pick<LogicInput, 'priceOutput' | 'steps'>,
  fields: LogicFields,
): Promise<void> {
  const problems = await findProblems(known, logic);
  const [first] = problems;
  if (!first) return;
  const index = logic.steps.findIndex(({ name }) => name === first.step);
  const field = index < 0 ? fields.priceOutput : `${fields.steps}[${index}].formula`;
  throw problem.validation(`'${field}': ${problems.slice(0, 5).map(describe).join('; ')}`, {
    field,
  });
}

/** 400: see `requireValid`; `at` is where the logic is in the request. */
export const checkPricingLogic = async (
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  logic: Pick<LogicInput, 'priceOutput' | 'steps'>,
  at: string,
): Promise<void> => requireValid(await loadNames(trx, scope, serviceId), logic, fieldsAt(`${at}.`));

/** Makes the TRANSACTION attributes that pricing logic names and the service does not have. */
async function ensureTransactionDimensions(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  names: readonly string[],
): Promise<void> {
  const attributes = await loadAttributes(trx, scope.tenantId, { serviceId });
  const known = new Set(attributes.map(({ name }) => name));
  const missing = [...new Set(names)].filter((name) => !known.has(name));
  await insertAttributes(
    trx,
    scope,
    { serviceId },
    'TRANSACTION',
    missing.map((name) => ({ name, dimensionDataType: 'String' })),
    attributes.length,
  );
}

/** A logic that is written as a whole: what it does not say has its default. */
export function newColumns<L extends Pick<LogicInput, 'usageType' | 'chargeType'>>(logic: L) {
  return {
    ...logic,
    usageType: logic.usageType ?? 'Charge',
    chargeType: logic.chargeType ?? null,
  };
}

interface InsertOptions {
  /** Where the logics are in the request, for messages: `pricingLogic`, or nothing for one. */
  readonly field?: string;
  /** The `seqNo` before that of the first. */
  readonly after?: number;
  readonly fields?: LogicFields;
}

/**
 * Adds pricing logic to a service in its order, after `after` others; the caller holds the service.
 * 400: see `requireValid`.
 */
export async function insertPricingLogic(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  logics: readonly LogicInput[],
  { field, after = 0, fields }: InsertOptions = {},
): Promise<PricingLogic[]> {
  if (logics.length === 0) return [];
  const dimensions = logics.map(({ transactionDimension }) => transactionDimension);
  await ensureTransactionDimensions(trx, scope, serviceId, dimensions);
  const known = await loadNames(trx, scope, serviceId);
  for (const [index, logic] of logics.entries()) {
    const at = field === undefined ? '' : `${field}[${index}].`;
    await requireValid(known, logic, fields ?? fieldsAt(at));
  }
  const inserted = await PricingLogic.insertAll(
    trx,
    scope.tenantId,
    logics.map((logic, index) => ({ ...newColumns(logic), serviceId, seqNo: after + index + 1 })),
  );
  await requireServiceFits(trx, scope, { serviceId });
  return inserted;
}

/** Deletes all pricing logic of a service; the caller holds the service. */
export async function deletePricingLogicOf(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
): Promise<void> {
  await PricingLogic.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where({ serviceId })
    .patch({ deletedAt: scope.now() });
}

/**
 * Called when the attributes of a service have changed and its pricing logic has not. 409: a logic
 * references an attribute that was removed (docs/decisions/0031). Transaction dimensions that were
 * removed with the attributes are created again.
 */
export async function protectPricingLogic(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  attributesBefore: readonly Attribute[],
): Promise<void> {
  const logics = await pricingLogicOf(trx, scope.tenantId, serviceId);
  if (logics.length === 0) return;
  const dimensions = logics.map(({ transactionDimension }) => transactionDimension);
  await ensureTransactionDimensions(trx, scope, serviceId, dimensions);
  const known = await loadNames(trx, scope, serviceId);
  const before = { ...known, attributes: attributesBefore };
  for (const logic of logics) {
    const old = new Set((await findProblems(before, logic)).map(describe));
    const problems = await findProblems(known, logic);
    const fresh = problems.find((found) => !old.has(describe(found)));
    if (fresh) {
      throw problem.conflict(
        `The pricing logic '${logic.name}' would not be valid any more: ${describe(fresh)}.`,
        { pricingLogic: logic.name },
      );
    }
  }
}

/** Adds a pricing logic after the others. 400: see `requireValid`. 404: there is no such service. */
export async function createPricingLogic(
  scope: Scope,
  serviceId: string,
  input: LogicInput,
): Promise<PricingLogicDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    const existing = await pricingLogicOf(trx, scope.tenantId, service.id);
    const after = existing.at(-1)?.seqNo ?? 0;
    const [created] = await insertPricingLogic(trx, scope, service.id, [input], { after });
    if (!created) throw new Error('An insert of one pricing logic returned none.');
    return presentPricingLogic(created);
  });
}

/**
 * Changes what is given of a logic; the caller holds its service and raises its rating version. 400:
 * see `requireValid`. 404: the service has no such logic.
 */
export async function changePricingLogic(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  id: string,
  change: LogicChange & { readonly seqNo?: number },
  fields: LogicFields = fieldsAt(''),
): Promise<PricingLogic> {
  const logic = await findPricingLogic(trx, scope.tenantId, serviceId, id);
  await logic
    .$query(trx)
    .forTenant(scope.tenantId)
    .patch({ ...change, updatedAt: scope.now() });
  await requireServiceFits(trx, scope, { serviceId });
  await ensureTransactionDimensions(trx, scope, serviceId, [logic.transactionDimension]);
  await requireValid(await loadNames(trx, scope, serviceId), logic, fields);
  return logic;
}

/** Changes what is given. 400: see `requireValid`. 404: there is no such service or logic. */
export async function updatePricingLogic(
  scope: Scope,
  serviceId: string,
  id: string,
  input: LogicChange,
): Promise<PricingLogicDto> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    return presentPricingLogic(await changePricingLogic(trx, scope, service.id, id, input));
  });
}

/** Deletes a logic; the caller holds its service and raises its rating version. 404: there is none. */
export async function removePricingLogic(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  id: string,
): Promise<void> {
  const logic = await findPricingLogic(trx, scope.tenantId, serviceId, id);
  await logic.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
}

/** Deletes a pricing logic; the others keep their places. 404: no such service or logic. */
export async function deletePricingLogic(
  scope: Scope,
  serviceId: string,
  id: string,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    await removePricingLogic(trx, scope, service.id, id);
  });
}
