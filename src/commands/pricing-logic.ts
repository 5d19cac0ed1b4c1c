import type { Knex } from 'knex';
import { raw } from 'objection';
import type { Static } from 'typebox';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import type { Attribute } from '../models/attribute.js';
import { PricingLogic } from '../models/pricing-logic.js';
import { RateCard } from '../models/rate-card.js';
import { RateCardRow } from '../models/rate-card-row.js';
import { Service } from '../models/service.js';
import { loadAttributes } from '../queries/attribute.js';
import {
  findPricingLogic,
  presentPricingLogic,
  pricingLogicOf,
  type PricingLogicDto,
} from '../queries/pricing-logic.js';
import { validateLogic, type LogicProblem } from '../rating/index.js';
import type * as schema from '../schemas/pricing-logic.js';
import { insertAttributes } from './attribute.js';
import { lockService } from './lock-service.js';

type LogicInput = Static<typeof schema.PricingLogicWrite>;
type LogicChange = Static<typeof schema.PricingLogicUpdate>;

/** What the formulas of a service may name. */
interface KnownNames {
  readonly attributes: readonly Attribute[];
  /** The `attributeName`s on the rows of its current cards. */
  readonly cardAttributeNames: readonly string[];
}

async function loadKnownNames(
  trx: Knex.Transaction,
  tenantId: string,
  serviceId: string,
): Promise<KnownNames> {
  const attributes = await loadAttributes(trx, tenantId, { serviceId });
  const cards = RateCard.query(trx)
    .forTenant(tenantId)
    .existing()
    .where({ serviceId, isCurrent: true })
    .select('rate_card.id');
  const conditions = await RateCardRow.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereIn('rateCardId', cards)
    .joinRaw('cross join lateral jsonb_array_elements(rate_card_row.attribute_values) as v(pair)')
    .distinct(raw(`v.pair ->> 'attributeName' as name`))
    .castTo<{ name: string }[]>();
  return { attributes, cardAttributeNames: conditions.map(({ name }) => name) };
}

function findProblems(
  { attributes, cardAttributeNames }: KnownNames,
  { priceOutput, steps }: Pick<LogicInput, 'priceOutput' | 'steps'>,
): LogicProblem[] {
  return validateLogic({ attributes, cardAttributeNames, logic: { priceOutput, steps } });
}

function describe({ step, position, message }: LogicProblem): string {
  const where = step === null ? '' : `step '${step}': `;
  return `${where}${message}${position === null ? '' : ` (character ${position})`}`;
}

/** 400: a formula does not parse or names nothing known, or priceOutput is no step. */
function requireValid(known: KnownNames, logic: LogicInput, at: string): void {
  const problems = findProblems(known, logic);
  const [first] = problems;
  if (!first) return;
  const index = logic.steps.findIndex(({ name }) => name === first.step);
  const field = index < 0 ? `${at}priceOutput` : `${at}steps[${index}].formula`;
  throw problem.validation(`'${field}': ${problems.slice(0, 5).map(describe).join('; ')}`, {
    field,
  });
}

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

function newColumns({ usageType, chargeType, ...input }: LogicInput) {
  return { ...input, usageType: usageType ?? 'Charge', chargeType: chargeType ?? null };
}

/**
 * Adds pricing logic to a service in its order, after `after` others; the caller holds the service.
 * `field` is where it stands in the request. 400: see `requireValid`.
 */
export async function insertPricingLogic(
  trx: Knex.Transaction,
  scope: Scope,
  serviceId: string,
  logics: readonly LogicInput[],
  { field, after = 0 }: { readonly field?: string; readonly after?: number } = {},
): Promise<PricingLogic[]> {
  if (logics.length === 0) return [];
  const dimensions = logics.map(({ transactionDimension }) => transactionDimension);
  await ensureTransactionDimensions(trx, scope, serviceId, dimensions);
  const known = await loadKnownNames(trx, scope.tenantId, serviceId);
  for (const [index, logic] of logics.entries()) {
    requireValid(known, logic, field === undefined ? '' : `${field}[${index}].`);
  }
  return PricingLogic.query(trx)
    .forTenant(scope.tenantId)
    .insert(
      logics.map((logic, index) => ({
        ...newColumns(logic),
        serviceId,
        seqNo: after + index + 1,
      })),
    );
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
 * To be called when the attributes of a service have changed and its pricing logic has not: 409 when
 * a logic names an attribute that was there before and is gone (docs/decisions/0031). Transaction
 * dimensions that went with the attributes are made anew.
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
  const known = await loadKnownNames(trx, scope.tenantId, serviceId);
  const before = { ...known, attributes: attributesBefore };
  for (const logic of logics) {
    const old = new Set(findProblems(before, logic).map(describe));
    const fresh = findProblems(known, logic).find((found) => !old.has(describe(found)));
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
    await Service.raiseRatingVersion(trx, scope.tenantId, [service.id]);
    const existing = await pricingLogicOf(trx, scope.tenantId, service.id);
    const after = existing.at(-1)?.seqNo ?? 0;
    const [created] = await insertPricingLogic(trx, scope, service.id, [input], { after });
    if (!created) throw new Error('An insert of one pricing logic returned none.');
    return presentPricingLogic(created);
  });
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
    await Service.raiseRatingVersion(trx, scope.tenantId, [service.id]);
    const logic = await findPricingLogic(trx, scope.tenantId, service.id, id);
    const { usageType, ...rest } = input;
    const columns = {
      ...rest,
      ...(usageType === undefined ? {} : { usageType: usageType ?? 'Charge' }),
    };
    await logic
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ ...columns, updatedAt: scope.now() });
    const dimensions = [logic.transactionDimension];
    await ensureTransactionDimensions(trx, scope, service.id, dimensions);
    requireValid(await loadKnownNames(trx, scope.tenantId, service.id), logic, '');
    return presentPricingLogic(logic);
  });
}

/** Deletes a pricing logic; the others keep their places. 404: no such service or logic. */
export async function deletePricingLogic(
  scope: Scope,
  serviceId: string,
  id: string,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    await Service.raiseRatingVersion(trx, scope.tenantId, [service.id]);
    const logic = await findPricingLogic(trx, scope.tenantId, service.id, id);
    await logic.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  });
}
