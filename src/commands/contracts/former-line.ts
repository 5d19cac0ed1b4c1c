import type { Knex } from 'knex';
import { groupBy } from '../../kernel/group-by.js';
import { mapInPortions } from '../../kernel/portions.js';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import type { Attribute } from '../../models/catalog/attribute.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { RateCard } from '../../models/catalog/rate-card.js';
import { readRecords } from '../../models/db/read-records.js';
import { linesOf } from '../../queries/contracts/contract-service.js';
import { insertAttributes, type AttributeInput } from '../catalog/attribute.js';
import type { NewLine } from './contract-lines.js';
import { copyCardsWithVersions } from '../catalog/copy-card.js';
import { loadPriceable } from '../catalog/rate-card-rows.js';

/*
 * An answer shows the lines of a contract in short form. When a PUT that replaces the lines sends
 * one back with its id, the fields that the short form lacks are kept from the stored line
 * (docs/decisions/0052).
 */

/** A line of a request that replaces the lines of a contract, with the id that it was sent with. */
export interface ReplacingLine extends NewLine {
  readonly id: unknown;
}

/** When a line runs; null: as its contract. */
interface LineSpan {
  readonly startDate?: string | null;
  readonly endDate?: string | null;
  readonly terminationDate?: string | null;
}

/** What decides which line one takes the place of, of all that are there now: there may be thousands. */
const placesSql = `
  select id, service_id, service_instance_id, start_date, end_date, termination_date, lineage_id
  from contract_service where tenant_id = $1 and contract_id = $2 and deleted_at is null
  order by id`;

/** Whether a version of the card begins on the day of another: the later one prices all of it. */
const isSameDay = (card: RateCard, later: RateCard | undefined): boolean =>
  later !== undefined && later.currency === card.currency && later.fromDate === card.fromDate;

/** Those that these ids name, with their attributes, and all versions of their cards, by id. */
async function loadFormerLines(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  contractId: string,
  ids: readonly unknown[],
): Promise<ReadonlyMap<unknown, ContractService>> {
  const known = ids.filter((id): id is string => typeof id === 'string' && isUuid(id));
  if (known.length === 0) return new Map();
  const lines = await linesOf(trx, tenantId)
    .where({ contractId })
    .whereIn('contract_service.id', known)
    .withGraphFetched('attributes');
  const today = utcDate(now());
  const cards = await RateCard.versionsOn(trx, tenantId, today, {
    contractServiceIds: lines.map(({ id }) => id),
  }).orderBy(['currency', 'fromDate', 'versionNo']);
  await RateCard.withRows(trx, tenantId, cards);
  const ofLine = groupBy(cards, ({ contractServiceId }) => contractServiceId);
  for (const line of lines) {
    const versions = ofLine.get(line.id) ?? [];
    line.cards = versions.filter((card, at) => !isSameDay(card, versions[at + 1]));
  }
  return new Map(lines.map((line) => [line.id, line]));
}

/** Whether two lines run on a common day; without dates they run as long as their contract. */
function overlap(line: LineSpan, other: LineSpan): boolean {
  const first = ({ startDate }: LineSpan): string => startDate ?? '';
  const last = ({ endDate, terminationDate }: LineSpan): string =>
    [endDate, terminationDate].filter((date) => typeof date === 'string').sort()[0] ?? '9999-12-31';
  return first(line) <= last(other) && first(other) <= last(line);
}

/**
 * The lines that replace those of a contract, each with its predecessor and its lineage. The
 * predecessor is the line of the same service with the id that was sent. The lineage keeps charges
 * and counters: a replacing line is not charged again for what its predecessor was charged, and its
 * counters continue. Without an id, the lineage is that of the line of the same service and
 * instance with overlapping dates.
 */
export async function withFormerLines(
  trx: Knex.Transaction,
  scope: Scope,
  contractId: string,
  lines: readonly ReplacingLine[],
): Promise<NewLine[]> {
  const ids = lines.map(({ id }) => id);
  const named = await loadFormerLines(trx, scope, contractId, ids);
  const replaced = await readRecords(ContractService, trx, scope.tenantId, placesSql, [contractId]);
  const taken = new Set<string>();
  const take = (line: ContractService | undefined): ContractService | undefined => {
    if (line) taken.add(line.id);
    return line;
  };
  const formers = lines.map(({ id, serviceId }) => {
    const line = named.get(id);
    return line?.serviceId === serviceId ? take(line) : undefined;
  });
  const places = groupBy(replaced, (each) => placeOf(each.serviceId, each.serviceInstanceId));
  return mapInPortions(lines, ({ id: _id, ...line }, index) => {
    const former = formers[index];
    const { serviceId, input } = line;
    const others = places.get(placeOf(serviceId, input.serviceInstanceId ?? null));
    const place =
      former ?? take(others?.find((each) => !taken.has(each.id) && overlap(each, input)));
    return {
      ...line,
      ...(former ? { former } : {}),
      ...(place ? { lineageId: place.lineageId ?? place.id } : {}),
    };
  });
}

/** A line without a known id replaces one of the same service and instance. */
const placeOf = (serviceId: string, instanceId: string | null): string =>
  JSON.stringify([serviceId, instanceId]);

/** The columns that the short form of a line does not show. */
export function formerColumns(former: ContractService) {
  const { terminationMessage, chargeFrequency, billingFrequency, subscriptionChargeType } = former;
  const { dimensionValues, accountMap } = former;
  return {
    terminationMessage,
    chargeFrequency,
    billingFrequency,
    subscriptionChargeType,
    dimensionValues,
    accountMap,
  };
}

/** An attribute as a request would give it. */
function inputOf(attribute: Attribute): AttributeInput {
  const { name, label, dimensionDataType, isContractInput, isMeterDimension } = attribute;
  const { isProration, meterResetFrequency, aggregation, uniqueDimension } = attribute;
  const { dimValues, dimensionValText } = attribute;
  return {
    name,
    label,
    dimensionDataType,
    isContractInput,
    isMeterDimension,
    isProration,
    meterResetFrequency,
    aggregation,
    uniqueDimension,
    dimValues,
    dimensionValText,
  };
}

/** Copies the attributes of the predecessor, of all kinds, onto a line. */
export async function insertFormerAttributes(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
  { attributes = [] }: ContractService,
): Promise<void> {
  for (const kind of ['PRICEABLE', 'INPUT', 'TRANSACTION'] as const) {
    const inputs = attributes.filter((attribute) => attribute.kind === kind).map(inputOf);
    await insertAttributes(trx, scope, { contractServiceId: id }, kind, inputs);
  }
}

/**
 * Copies the cards of the predecessor onto a line, with all versions. 400: the request removes an
 * attribute that a current or coming one prices.
 */
export async function insertFormerCards(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
  { cards = [] }: ContractService,
  at: string,
): Promise<void> {
  if (cards.length === 0) return;
  const owner = { contractServiceId: id };
  const attributes = await loadPriceable(trx, scope.tenantId, owner);
  const missing = (name: string) =>
    problem.validation(
      `'${at}priceableAttributes' is without '${name}', which an exception card prices`,
      { field: `${at}priceableAttributes` },
    );
  await copyCardsWithVersions(trx, scope, { cards, owner, attributes, missing });
}
