import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Contract } from '../../models/contracts/contract.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { warnOfCards } from '../../queries/catalog/card-warnings.js';
import { warnOfLineDates } from '../../queries/contracts/line-date-warnings.js';
import {
  getLine,
  getLineHeader,
  type ContractServiceDto,
  type ContractServiceHeaderDto,
} from '../../queries/contracts/contract-service.js';
import type * as schema from '../../schemas/contracts/contract-service.js';
import { replaceAttributes } from '../catalog/attribute.js';
import {
  deleteLine,
  insertLines,
  lineColumns,
  lockServicesOf,
  requireLineAttributes,
  requireLineDates,
  withSharesById,
  type LineInput,
} from './contract-lines.js';
import { setKnownDimensionValues, type DimensionValues } from './line-dimensions.js';
import { lockContract, lockLine, type LineKey, type LockedLine } from './lock-contract.js';
import { deleteRateCards, replaceRateCards } from '../catalog/rate-card.js';
import { requireSameId } from '../rules/same-id.js';
import { requireAccountFits } from '../rules/size-limits.js';

type LineCreate = Static<typeof schema.ContractServiceCreate>;
type LineUpdate = Static<typeof schema.ContractServiceUpdate>;
type LineEnd = Static<typeof schema.ContractServiceEnd>;

type LineChange<T> = (trx: Knex.Transaction, locked: LockedLine) => Promise<T>;

/**
 * Changes a part of a line in one transaction that locks the line. 404: there is no such line; if
 * the body names the line, `lock` finds it. 409: its account would exceed the size limits.
 */
export async function changeLine<T>(
  scope: Scope,
  key: LineKey,
  change: LineChange<T>,
  lock: typeof lockLine = lockLine,
): Promise<T> {
  return scope.db.transaction(async (trx) => {
    const locked = await lock(trx, scope, key);
    const changed = await change(trx, locked);
    await requireAccountFits(trx, scope, locked.contract.masterAccountId);
    return changed;
  });
}

/**
 * The same for changes that remove something: allowed for an account above the size limits, too.
 */
export async function shrinkLine<T>(scope: Scope, key: LineKey, change: LineChange<T>): Promise<T> {
  return scope.db.transaction(async (trx) => change(trx, await lockLine(trx, scope, key)));
}

/** A line that was written, with the warnings about its dates and the cards of the request. */
async function readWritten(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  contract: Contract,
  id: string,
  { rateCards: sent }: Pick<LineUpdate, 'rateCards'>,
): Promise<ContractServiceDto> {
  const today = utcDate(now());
  const line = await getLine(trx, tenantId, id, today);
  const warnings = warnOfLineDates(contract, line);
  const warned = warnings.length === 0 ? line : { ...line, warnings };
  if (sent === undefined) return warned;
  const owner = { contractServiceId: id };
  const rateCards = await warnOfCards(trx, tenantId, owner, line.rateCards, sent ?? [], today);
  return { ...warned, rateCards };
}

/**
 * Adds a line with its attributes and exception cards (spec/resources.md R65, R66). 400: the
 * service does not exist, or a part is not valid. 404: there is no such contract.
 */
export async function createContractService(
  scope: Scope,
  contractId: string,
  { serviceId, ...input }: LineCreate,
): Promise<ContractServiceDto> {
  return scope.db.transaction(async (trx) => {
    const contract = await lockContract(trx, scope, contractId);
    requireSameId('contractId', input.contractId, contract.id);
    const lines = [{ serviceId, input, at: '' }];
    await lockServicesOf(trx, scope, lines);
    const [id = ''] = await insertLines(trx, scope, contract, lines);
    return readWritten(trx, scope, contract, id, input);
  });
}

/** 400: the body names another service than the line's. */
export function requireSameService(serviceId: string | undefined, line: ContractService): void {
  if (serviceId !== undefined && serviceId !== line.serviceId) {
    throw problem.validation(
      "'serviceId' cannot change: end this line and add one of the other service",
      { field: 'serviceId', value: serviceId },
    );
  }
}

/** Changes the columns that are given. 400: dates contradict each other. */
export async function patchLine(
  trx: Knex.Transaction,
  scope: Scope,
  { contract, line }: LockedLine,
  input: LineInput,
): Promise<void> {
  requireLineDates(contract, input, line, '');
  await line
    .$query(trx)
    .forTenant(scope.tenantId)
    .patch({ ...lineColumns(await withSharesById(scope, input, '')), updatedAt: scope.now() });
}

/** Replaces the attributes and exception cards that a PUT holds, cards first where it has both. */
async function replaceParts(
  trx: Knex.Transaction,
  scope: Scope,
  line: ContractService,
  { priceableAttributes, rateCards }: LineUpdate,
): Promise<void> {
  const owner = { contractServiceId: line.id };
  let replaced: ReadonlyMap<string, string> = new Map();
  if (priceableAttributes !== undefined) {
    if (rateCards !== undefined) await deleteRateCards(trx, scope, owner);
    const attributes = priceableAttributes ?? [];
    requireLineAttributes(attributes, '');
    replaced = await replaceAttributes(trx, scope, owner, [{ kind: 'PRICEABLE', attributes }]);
  }
  if (rateCards !== undefined) {
    const options = { field: 'rateCards', replaced, makesVersion: true };
    await replaceRateCards(trx, scope, owner, rateCards ?? [], options);
  }
}

/**
 * Changes what is given; a collection that is present replaces the whole of it. 400: dates
 * contradict each other, another service is named, a part is not valid. 404: there is no such line.
 * 409: a current exception card prices an attribute that would be gone.
 */
export async function updateContractService(
  scope: Scope,
  key: LineKey,
  input: LineUpdate,
): Promise<ContractServiceDto> {
  return changeLine(scope, key, async (trx, locked) => {
    const { line } = locked;
    requireSameId('contractId', input.contractId, line.contractId);
    requireSameService(input.serviceId, line);
    const former = line.dimensionValues as DimensionValues | null;
    await patchLine(trx, scope, locked, input);
    await replaceParts(trx, scope, line, input);
    const { dimensionValues: values, priceableAttributes: attributes } = input;
    const dimensions = { values, attributes, former, at: '' };
    await setKnownDimensionValues(trx, scope.tenantId, line, dimensions);
    return readWritten(trx, scope, locked.contract, line.id, input);
  });
}

/**
 * Ends a line (spec/resources.md R69); a line that was ended gets the new date and message. 400:
 * the date is before the line's first day. 404: there is no such line.
 */
export async function endContractService(
  scope: Scope,
  key: LineKey,
  { terminationDate, terminationMessage = null }: LineEnd,
): Promise<ContractServiceHeaderDto> {
  return shrinkLine(scope, key, async (trx, { contract, line }) => {
    requireLineDates(contract, { terminationDate }, line, '');
    await line
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ terminationDate, terminationMessage, updatedAt: scope.now() });
    return getLineHeader(trx, scope.tenantId, line.id);
  });
}

/**
 * Ends the line of an instance: the one that was not ended yet, else the only one (docs/decisions/
 * 0051). 404: no line has this instance. 409: several have.
 */
export async function endContractServiceByInstance(
  scope: Scope,
  serviceInstanceId: string,
  input: LineEnd,
): Promise<ContractServiceHeaderDto> {
  // A tenant may have given one id to many lines. Active lines come first; two rows are enough to
  // see that the id is ambiguous.
  const lines = await ContractService.query(scope.db.read)
    .forTenant(scope.tenantId)
    .existing()
    .where({ serviceInstanceId })
    .select('id', 'terminationDate')
    .orderByRaw('termination_date nulls first')
    .limit(2);
  const running = lines.filter((line) => line.terminationDate === null);
  const [line, ...others] = running.length > 0 ? running : lines;
  if (!line) {
    throw problem.notFound(`There is no contract service of the instance '${serviceInstanceId}'.`);
  }
  if (others.length > 0) {
    throw problem.conflict(
      `Several contract services have the instance id '${serviceInstanceId}'; end one by its own id.`,
    );
  }
  return endContractService(scope, { contractServiceId: line.id }, input);
}

/** Deletes a line with its attributes and exception cards. 404: there is no such line. */
export async function deleteContractService(scope: Scope, key: LineKey): Promise<void> {
  await shrinkLine(scope, key, (trx, { line }) => deleteLine(trx, scope, line.id));
}
