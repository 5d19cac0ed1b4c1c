import { raw, ref } from 'objection';
import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { mapInPortions } from '../../kernel/portions.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { RateCard } from '../../models/catalog/rate-card.js';
import { readRecords } from '../../models/db/read-records.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/contracts/contract-service.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { presentLineAttribute } from '../catalog/attribute.js';
import { listPage } from '../lists/listing.js';
import { loadLineCards, presentRateCards } from '../catalog/rate-card.js';
import { requireContract } from './require-contract.js';

export type ContractServiceDto = Static<typeof schema.ContractService>;
export type ContractServiceHeaderDto = Static<typeof schema.ContractServiceHeader>;
export type ContractServiceSummaryDto = Static<typeof schema.ContractServiceSummary>;

const presentShort = presenterOf(schema.ContractServiceSummary, ['exceptionPricing']);
const presentColumns = presenterOf(schema.ContractServiceHeader, ['exceptionPricing']);

/** A line as its contract shows it. */
const presentLineSummary = (line: ContractService): ContractServiceSummaryDto => ({
  ...presentShort(line),
  exceptionPricing: line.exceptionPricing === true,
});

/** A line without its collections. */
export const presentLineHeader = (line: ContractService): ContractServiceHeaderDto => ({
  ...presentColumns(line),
  exceptionPricing: line.exceptionPricing === true,
});

/** A line with its collections, which are loaded. */
export async function presentLine(line: ContractService): Promise<ContractServiceDto> {
  const { attributes = [], cards = [] } = line;
  return {
    ...presentLineHeader(line),
    dimensionValues: line.dimensionValues as ContractServiceDto['dimensionValues'],
    accountMap: line.accountMap as ContractServiceDto['accountMap'],
    priceableAttributes: attributes
      .filter(({ kind }) => kind === 'PRICEABLE')
      .map(presentLineAttribute),
    rateCards: await presentRateCards(cards),
  };
}

/** The problem of a line that is not there. */
export const missingLine = (id: string): Problem =>
  problem.notFound(`There is no contract service '${id}'.`);

const cardOf = (db: Knex, tenantId: string) =>
  RateCard.query(db)
    .forTenant(tenantId)
    .existing()
    .where('rate_card.contractServiceId', ref('contract_service.id'))
    .select('rate_card.id');

/** Lines that exist, each with whether it has an exception card, oldest first. */
export function linesOf(db: Knex, tenantId: string) {
  return ContractService.query(db)
    .forTenant(tenantId)
    .existing()
    .select('contract_service.*', raw('exists ?', cardOf(db, tenantId)).as('exceptionPricing'))
    .orderBy('contract_service.id');
}

/** The same without their collections, which may be long. */
const lineHeadersOf = (db: Knex, tenantId: string, contractId: string) =>
  linesOf(db, tenantId)
    .where({ contractId })
    .clearSelect()
    .select(...lineHeaderColumns, raw('exists ?', cardOf(db, tenantId)).as('exceptionPricing'));

const lineHeaderColumns = [
  'id',
  'contractId',
  'serviceId',
  'serviceInstanceId',
  'startDate',
  'endDate',
  'terminationDate',
  'terminationMessage',
  'chargeFrequency',
  'billingFrequency',
].map((column) => `contract_service.${column}`);

const summariesSql = `
  select line.id, line.service_id, line.service_instance_id, line.start_date, line.end_date, line.termination_date,
    exists (
      select from rate_card as card where card.tenant_id = line.tenant_id
        and card.contract_service_id = line.id and card.deleted_at is null
    ) as exception_pricing
  from contract_service as line
  where line.tenant_id = $1 and line.contract_id = $2 and line.deleted_at is null
  order by line.id`;

/** All lines of a contract in short, oldest first: there may be thousands. */
export async function loadLineSummaries(
  db: Knex,
  tenantId: string,
  contractId: string,
): Promise<ContractServiceSummaryDto[]> {
  const lines = await readRecords(ContractService, db, tenantId, summariesSql, [contractId]);
  return mapInPortions(lines, presentLineSummary);
}

/** A line without its collections, inside the transaction that wrote it. */
export async function getLineHeader(
  db: Knex,
  tenantId: string,
  id: string,
): Promise<ContractServiceHeaderDto> {
  const line = await linesOf(db, tenantId).findById(id);
  if (!line) throw missingLine(id);
  return presentLineHeader(line);
}

/** Gives lines their exception cards that are in force on a day, and answers with them. */
export async function withCards(
  db: Knex,
  tenantId: string,
  lines: readonly ContractService[],
  day: string,
): Promise<readonly ContractService[]> {
  const ids = lines.map(({ id }) => id);
  const cards = await loadLineCards(db, tenantId, ids, day);
  for (const line of lines) line.cards = cards.get(line.id) ?? [];
  return lines;
}

/**
 * The whole line with the cards that are in force on a day, by id and, when it is given, by
 * contract. 404: there is none.
 */
export async function getLine(
  db: Knex,
  tenantId: string,
  id: string,
  day: string,
  contractId?: string,
): Promise<ContractServiceDto> {
  const line = await linesOf(db, tenantId)
    .findOne({ 'contract_service.id': id, ...defined({ contractId }) })
    .withGraphFetched('attributes');
  if (!line) throw missingLine(id);
  await withCards(db, tenantId, [line], day);
  return presentLine(line);
}

/** 404: the tenant has no such line. */
export async function requireLineAlone(db: Knex, tenantId: string, id: string): Promise<void> {
  const line = await ContractService.query(db)
    .forTenant(tenantId)
    .existing()
    .findById(id)
    .select('id');
  if (!line) throw missingLine(id);
}

/** 404: the tenant has no such contract, or the contract no such line. */
export async function requireLine(
  db: Knex,
  tenantId: string,
  contractId: string,
  id: string,
): Promise<void> {
  const line = await ContractService.query(db)
    .forTenant(tenantId)
    .existing()
    .findOne({ contractId, id })
    .select('id');
  if (!line) throw missingLine(id);
}

/** One page of a contract's lines. 404: there is no such contract. */
export async function listContractServices(
  { db, tenantId }: Scope,
  contractId: string,
  page: PageRequest,
): Promise<Listed<ContractServiceHeaderDto>> {
  await requireContract(db.read, tenantId, contractId);
  return listPage(lineHeadersOf(db.read, tenantId, contractId), page, presentLineHeader);
}
