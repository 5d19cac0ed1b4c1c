import type { Knex } from 'knex';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { findIdleRowWarnings } from './idle-row-warnings.js';
import { Portions } from '../../kernel/portions.js';
import { loadLineCards, presentRateCards, type RateCardDto } from './rate-card.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** Services or lines whose cards were written. */
interface Written {
  readonly serviceIds?: readonly string[];
  readonly lineIds?: readonly string[];
}

/** What a request says of a card. */
interface WrittenCard {
  readonly currency: string;
  readonly fromDate?: string | null | undefined;
}

interface WrittenLine {
  readonly id: string;
  readonly serviceId: string;
  readonly exceptionPricing: boolean;
}

/** What a request says of a line. */
interface SentLine {
  readonly rateCards?: readonly WrittenCard[] | null | undefined;
}

interface Difference {
  /** The line whose card was written; null where it was the service's. */
  readonly lineId: string | null;
  readonly currency: string;
  readonly name: string;
  /** The card whose conditions do not use the name. */
  readonly missingOn: 'catalog' | 'exception';
  /** The number of exception cards concerned. */
  readonly cards: number;
}

/** SQL: of the versions of a card the one in force on a day comes first. */
const inForceFirst = `card.from_date <= :day::date desc, abs(card.from_date - :day::date),
      card.version_no desc`;

/**
 * Pairs of a catalog card and an exception card of one currency, both in force on a day, with the names in the conditions
 * of one of them for which neither the service nor the line has an attribute. At most a thousand
 * lines with cards are compared.
 */
const differenceSql = `
  with line as (
    select id, service_id from contract_service
    where tenant_id = :tenantId and deleted_at is null
      and (service_id = any(:serviceIds::uuid[]) or id = any(:lineIds::uuid[]))
  ), own as (
    select distinct on (card.contract_service_id, card.currency) card.id, card.currency,
      card.contract_service_id as line_id, line.service_id
    from line join rate_card as card
      on card.tenant_id = :tenantId and card.contract_service_id = line.id
      and card.deleted_at is null
    order by card.contract_service_id, card.currency, ${inForceFirst}
  ), catalog as (
    select distinct on (card.service_id, card.currency) card.id, card.currency, card.service_id
    from rate_card as card
    where card.tenant_id = :tenantId and card.service_id in (select service_id from own)
      and card.deleted_at is null
    order by card.service_id, card.currency, ${inForceFirst}
  ), pair as (
    select own.line_id, own.service_id, own.currency, own.id as own_id, catalog.id as catalog_id
    from own join catalog
      on catalog.service_id = own.service_id and catalog.currency = own.currency
    order by own.line_id limit 1000
  ), named as (
    select distinct row.rate_card_id as card_id, condition ->> 'attributeName' as name
    from rate_card_row as row, jsonb_array_elements(row.attribute_values) as condition
    where row.tenant_id = :tenantId and row.deleted_at is null
      and row.rate_card_id in (select own_id from pair union all select catalog_id from pair)
  ), difference as (
    select pair.*, named.name, 'exception' as missing_on
    from pair join named on named.card_id = pair.catalog_id
    where (pair.own_id, named.name) not in (select card_id, name from named)
    union all
    select pair.*, named.name, 'catalog' from pair join named on named.card_id = pair.own_id
    where (pair.catalog_id, named.name) not in (select card_id, name from named)
  )
  select case when line_id = any(:lineIds::uuid[]) then line_id end as "lineId", currency, name,
    missing_on as "missingOn", count(*)::int as cards
  from difference
  where not exists (
    select from attribute where attribute.tenant_id = :tenantId and attribute.deleted_at is null
      and attribute.name = difference.name
      and (attribute.service_id = difference.service_id
        or attribute.contract_service_id = difference.line_id)
  )
  group by 1, 2, 3, 4 order by 1, 2, 4, 3 limit 100`;

function warningOf({ lineId, currency, name, missingOn, cards }: Difference): string {
  const others = cards === 1 ? 'an exception card' : `${cards} exception cards`;
  const other = lineId === null ? `${others} in ${currency}` : `the catalog card in ${currency}`;
  const verb = lineId === null && cards > 1 ? 'do' : 'does';
  const isMissingHere = (missingOn === 'catalog') === (lineId === null);
  const who = isMissingHere
    ? `'${name}' is a condition of ${other}, and this card does not know it`
    : `'${name}' is a condition of this card, and ${other} ${verb} not know it`;
  const whose = missingOn === 'exception' ? 'an exception card' : 'the catalog card';
  return (
    `${who}: usage that gives '${name}' and is priced by ${whose} is rejected ` +
    '(UNKNOWN_DIMENSION). Name it in a row of both, or make it an input attribute of the service.'
  );
}

async function findDifferences(
  db: Knex,
  tenantId: string,
  { serviceIds = [], lineIds = [] }: Written,
  day: string,
): Promise<readonly Difference[]> {
  const rows = await sqlRows<Difference>(db, differenceSql, {
    tenantId,
    day,
    serviceIds: arrayLiteral(serviceIds),
    lineIds: arrayLiteral(lineIds),
  });
  return rows;
}

/** Where a line's cards are, for whose rows its service decides. */
async function serviceOf(db: Knex, tenantId: string, owner: CatalogOwner): Promise<string> {
  if ('serviceId' in owner) return owner.serviceId;
  const line = await ContractService.query(db)
    .forTenant(tenantId)
    .findById(owner.contractServiceId)
    .select('serviceId');
  return line?.serviceId ?? '';
}

/** A first day that was sent and is not that of the card. */
function warnOfFirstDay(fromDate: string, sent: string | null | undefined): string[] {
  if (sent === undefined || sent === null || sent === fromDate) return [];
  return [
    `'fromDate' ${sent} has no effect: these prices hold from ${fromDate} on, and for all days before the first version.`,
  ];
}

/** Cards with their warnings, as the answer to a write that holds on a day (0242, 0309). */
export async function warnOfCards(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  cards: readonly RateCardDto[],
  sent: readonly WrittenCard[],
  day: string,
): Promise<RateCardDto[]> {
  if (cards.length === 0) return [];
  const lineId = 'serviceId' in owner ? null : owner.contractServiceId;
  const serviceId = await serviceOf(db, tenantId, owner);
  const written = lineId === null ? { serviceIds: [serviceId] } : { lineIds: [lineId] };
  const differences = await findDifferences(db, tenantId, written, day);
  const idle = await findIdleRowWarnings(db, tenantId, [{ serviceId, lineId, cards }]);
  const sentOf = ({ currency }: RateCardDto) =>
    sent.find((card) => card.currency === currency)?.fromDate;
  return cards.map((card) => {
    const warnings = [
      ...differences.filter(({ currency }) => currency === card.currency).map(warningOf),
      ...(idle.get(card) ?? []),
      ...warnOfFirstDay(card.fromDate, sentOf(card)),
    ];
    return warnings.length === 0 ? card : { ...card, warnings };
  });
}

/** Of so many lines that are written together the rows are looked at. */
const linesMax = 100;

/** The warnings about exception cards of lines that were written together, as they were sent. */
export async function findLineWarnings(
  db: Knex,
  tenantId: string,
  lines: readonly WrittenLine[],
  sent: readonly SentLine[],
  day: string,
): Promise<string[]> {
  const priced = lines.filter((line) => line.exceptionPricing);
  if (priced.length === 0) return [];
  const lineIds = priced.map(({ id }) => id);
  const differences = await findDifferences(db, tenantId, { lineIds }, day);
  const looked = priced.slice(0, linesMax);
  const cards = await loadLineCards(db, tenantId, lineIds.slice(0, linesMax), day);
  const owners: { serviceId: string; lineId: string; cards: readonly RateCardDto[] }[] = [];
  const portions = new Portions();
  for (const { id: lineId, serviceId } of looked) {
    const shown = await presentRateCards(cards.get(lineId) ?? [], portions);
    owners.push({ serviceId, lineId, cards: shown });
  }
  const [fromDate = ''] = [...cards.values()].flat().map((card) => card.fromDate);
  const firstDays = sent.flatMap(({ rateCards }, line) =>
    (rateCards ?? []).flatMap((card, at) =>
      warnOfFirstDay(fromDate, card.fromDate).map(
        (text) => `services[${line}].rateCards[${at}]: ${text}`,
      ),
    ),
  );
  const idle = await findIdleRowWarnings(db, tenantId, owners);
  const ofCards = owners.flatMap(({ lineId, cards: ofLine }) =>
    ofLine.flatMap((card) =>
      (idle.get(card) ?? []).map((text) => `Contract service ${lineId}: ${card.currency}: ${text}`),
    ),
  );
  return [
    ...differences.map(
      (difference) => `Contract service ${difference.lineId ?? ''}: ${warningOf(difference)}`,
    ),
    ...ofCards,
    ...firstDays,
  ];
}
