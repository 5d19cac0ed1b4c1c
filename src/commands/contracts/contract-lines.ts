import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { newId } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Attribute } from '../../models/catalog/attribute.js';
import type { Contract } from '../../models/contracts/contract.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { RateCard } from '../../models/catalog/rate-card.js';
import { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { Service } from '../../models/catalog/service.js';
import type * as schema from '../../schemas/contracts/contract-service.js';
import { withAccountIds } from './account-shares.js';
import {
  insertAttributes,
  requireDistinctNames,
  type AttributeInput,
} from '../catalog/attribute.js';
import { requireDateOrder } from '../rules/date-order.js';
import { formerColumns, insertFormerAttributes, insertFormerCards } from './former-line.js';
import {
  requireTypedValue,
  setKnownDimensionValues,
  type DimensionValues,
} from './line-dimensions.js';
import { insertRateCards } from '../catalog/rate-card.js';
import { requireAccountFits } from '../rules/size-limits.js';

/*
 * The lines of a contract. The caller of these functions holds the contract until the transaction
 * ends.
 */

/** What a request gives of a line; family B has one field more than the resource API. */
export type LineInput = Static<typeof schema.ContractServiceUpdate> & {
  readonly subscriptionChargeType?: string | null;
};

/** A line to add; its service is resolved, whichever field of the request named it. */
export interface NewLine {
  readonly serviceId: string;
  readonly input: LineInput;
  /** The line of the same contract and service whose id the request sent back. */
  readonly former?: ContractService;
  /** The first in the chain of replaced lines: charges and counters are kept under its id. */
  readonly lineageId?: string;
  /** Where the line is in the request, for messages: `services[0].`, or nothing. */
  readonly at: string;
}

/** The columns of a line that a request gives. */
export function lineColumns(input: LineInput) {
  const { serviceInstanceId, startDate, endDate, terminationDate, terminationMessage } = input;
  const { chargeFrequency, billingFrequency, subscriptionChargeType } = input;
  const { dimensionValues, accountMap } = input;
  return defined({
    serviceInstanceId,
    startDate,
    endDate,
    terminationDate,
    terminationMessage,
    chargeFrequency,
    billingFrequency,
    subscriptionChargeType,
    dimensionValues,
    accountMap,
  });
}

interface LineDates {
  readonly startDate?: string | null;
  readonly endDate?: string | null;
  readonly terminationDate?: string | null;
}

/**
 * 400: the line's end or termination date is before its start, or the contract's start
 * (spec/resources.md R69; docs/decisions/0051).
 */
export function requireLineDates(
  contract: Pick<Contract, 'startDate'>,
  change: LineDates,
  stored: LineDates,
  at: string,
): void {
  requireDateOrder(change, stored, at);
  if (change.startDate === undefined && change.terminationDate === undefined) return;
  const { startDate = stored.startDate, terminationDate = stored.terminationDate } = change;
  const start = startDate ?? contract.startDate;
  if (start === null || terminationDate === null || terminationDate === undefined) return;
  if (terminationDate < start) {
    const field = `${at}terminationDate`;
    throw problem.validation(
      `'${field}' (${terminationDate}) is before the start of the line (${start})`,
      { field, value: terminationDate },
    );
  }
}

/**
 * Locks the services of lines, so that none is deleted before the lines are inserted. 400: one does
 * not exist.
 */
export async function lockServicesOf(
  trx: Knex.Transaction,
  scope: Scope,
  lines: readonly NewLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const ids = [...new Set(lines.map(({ serviceId }) => serviceId))];
  const services = await Service.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .whereIn('id', ids)
    .orderBy('id')
    .forShare();
  const known = new Set(services.map(({ id }) => id));
  for (const { serviceId, at } of lines) {
    if (!known.has(serviceId)) {
      const field = `${at}serviceId`;
      throw problem.validation(`'${field}' names no service: ${serviceId}`, {
        field,
        value: serviceId,
      });
    }
  }
}

/** 400: two attributes of a line have one name, or a value is not of its type. */
export function requireLineAttributes(attributes: readonly AttributeInput[], at: string): void {
  const field = `${at}priceableAttributes`;
  requireDistinctNames([{ field, attributes }]);
  for (const [index, attribute] of attributes.entries()) {
    requireTypedValue(attribute, `${field}[${index}].`);
  }
}

/** The checks that need no database. 400: dates, names or values contradict each other. */
function checkLine(contract: Pick<Contract, 'startDate'>, { input, at }: NewLine): void {
  requireLineDates(contract, input, {}, at);
  requireLineAttributes(input.priceableAttributes ?? [], at);
}

/** The line of a request with its shares keyed by account id. */
export async function withSharesById(
  scope: Scope,
  input: LineInput,
  at: string,
): Promise<LineInput> {
  const { accountMap } = input;
  if (!accountMap) return input;
  return {
    ...input,
    accountMap: await withAccountIds(scope, accountMap, at),
  };
}

/**
 * Adds lines with their attributes and exception cards. A line without attributes in the request
 * gets copies of its service's; one without cards has the list price (spec/resources.md R66).
 * Returns their ids in order. The caller holds their services (`lockServicesOf`). 400: a part is
 * not valid.
 */
export async function insertLines(
  trx: Knex.Transaction,
  scope: Scope,
  contract: Contract,
  lines: readonly NewLine[],
): Promise<string[]> {
  if (lines.length === 0) return [];
  for (const line of lines) checkLine(contract, line);
  const inserted: (NewLine & { readonly id: string })[] = [];
  for (const line of lines) {
    inserted.push({
      ...line,
      input: await withSharesById(scope, line.input, line.at),
      id: newId(),
    });
  }
  await ContractService.insertAll(
    trx,
    scope.tenantId,
    inserted.map(({ id, serviceId, input, former, lineageId }) => ({
      id,
      serviceId,
      contractId: contract.id,
      lineageId: lineageId ?? null,
      ...(former ? formerColumns(former) : {}),
      ...lineColumns(input),
    })),
  );
  const copying = inserted.filter(
    ({ input, former }) =>
      input.priceableAttributes === null || (input.priceableAttributes === undefined && !former),
  );
  if (copying.length > 0) {
    const ids = copying.map(({ id }) => id);
    await ContractService.copyCatalogAttributes(trx, scope.tenantId, ids);
  }
  for (const line of inserted) await insertParts(trx, scope, line);
  await requireAccountFits(trx, scope, contract.masterAccountId);
  return inserted.map(({ id }) => id);
}

/**
 * Gives a line the attributes and cards of the request, or copies those of the line it replaces.
 */
async function insertParts(
  trx: Knex.Transaction,
  scope: Scope,
  { id, serviceId, input, former, at }: NewLine & { readonly id: string },
): Promise<void> {
  const owner = { contractServiceId: id };
  const { priceableAttributes: attributes, rateCards: cards } = input;
  if (former && attributes === undefined) await insertFormerAttributes(trx, scope, id, former);
  else await insertAttributes(trx, scope, owner, 'PRICEABLE', attributes ?? []);
  if (former && cards === undefined) await insertFormerCards(trx, scope, id, former, at);
  else await insertRateCards(trx, scope, owner, cards ?? [], { field: `${at}rateCards` });
  await setKnownDimensionValues(
    trx,
    scope.tenantId,
    { id, serviceId },
    {
      values: input.dimensionValues,
      attributes,
      former: former?.dimensionValues as DimensionValues | null | undefined,
      at,
    },
  );
}

/** Deletes lines with their attributes and exception cards: four statements, however many. */
async function deleteLinesWhere(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  lines: { readonly contractId: string } | { readonly id: string },
): Promise<void> {
  const change = { deletedAt: now() };
  const ids = () =>
    ContractService.query(trx).forTenant(tenantId).existing().where(lines).select('id');
  const cards = () =>
    RateCard.query(trx).forTenant(tenantId).existing().whereIn('contractServiceId', ids());
  await RateCardRow.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereIn('rateCardId', cards().select('rate_card.id'))
    .patch(change);
  await cards().patch(change);
  await Attribute.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereIn('contractServiceId', ids())
    .patch(change);
  await ContractService.query(trx).forTenant(tenantId).existing().where(lines).patch(change);
}

/** Deletes one line with its attributes and exception cards. */
export async function deleteLine(trx: Knex.Transaction, scope: Scope, id: string): Promise<void> {
  await deleteLinesWhere(trx, scope, { id });
}

/** Deletes all lines of a contract with their attributes and exception cards. */
export async function deleteLinesOf(
  trx: Knex.Transaction,
  scope: Scope,
  contractId: string,
): Promise<void> {
  await deleteLinesWhere(trx, scope, { contractId });
}
