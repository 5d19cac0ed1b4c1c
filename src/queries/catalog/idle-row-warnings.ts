import type { Knex } from 'knex';
import { inPortions, mapInPortions } from '../../kernel/portions.js';
import { Attribute } from '../../models/catalog/attribute.js';
import { PricingLogic } from '../../models/catalog/pricing-logic.js';
import { Service } from '../../models/catalog/service.js';
import { findIdleRows, type CheckedCard, type IdleRow } from '../../rating/index.js';
import type { RateCardDto } from './rate-card.js';

/** Cards of a service, or of a line of it. */
export interface CardsOf {
  readonly serviceId: string;
  readonly lineId: string | null;
  readonly cards: readonly RateCardDto[];
}

type Row = RateCardDto['rows'][number];

/** Of one card so many rows are named. */
const shownMax = 20;

const nameOf = (rows: readonly Row[], index: number): string =>
  `rows[${index}] '${rows[index]?.label ?? ''}'`;

function warningOf(rows: readonly Row[], idle: IdleRow): string {
  const name = nameOf(rows, idle.row);
  switch (idle.why) {
    case 'hidden':
      return `${name} prices nothing: ${nameOf(rows, idle.by)} comes first, with the same attribute and conditions.`;
    case 'no number':
      return `${name} prices nothing: its condition ${idle.name}=${idle.value} is no number, and '${idle.name}' is a Number.`;
    case 'no formula':
      return `${name} prices nothing: the service has pricing logic, and none of its formulas has a Price() of this attribute.`;
    case 'not metered':
      return `${name}: its resetFrequency has no effect, because its attribute is not metered (isMeterDimension).`;
  }
}

function warningsOf(rows: readonly Row[], idle: readonly IdleRow[]): string[] {
  const shown = idle.slice(0, shownMax).map((each) => warningOf(rows, each));
  const more = idle.length - shown.length;
  return more > 0 ? [...shown, `The same holds for ${more} more rows.`] : shown;
}

type Facts = Pick<CheckedCard, 'serviceType' | 'attributes' | 'logics'> & {
  readonly namesById: ReadonlyMap<string, string>;
};

async function checkedCard(facts: Facts, { rows }: RateCardDto): Promise<CheckedCard> {
  return {
    ...facts,
    rows: await mapInPortions(rows, (row) => ({
      attributeName: facts.namesById.get(row.priceDimId) ?? '',
      attributeValues: row.attributeValues.map(
        ({ attributeName: name, attributeValue: value }) => ({
          name,
          value,
        }),
      ),
      resetFrequency: ('resetFrequency' in row && (row.resetFrequency as string | null)) || null,
    })),
  };
}

/** Reads what decides which rows are chosen, with three queries for any number of owners. */
async function loadFacts(
  db: Knex,
  tenantId: string,
  owners: readonly CardsOf[],
): Promise<(owner: CardsOf) => Facts> {
  const serviceIds = [...new Set(owners.map(({ serviceId }) => serviceId))];
  const lineIds = owners.flatMap(({ lineId }) => lineId ?? []);
  const services = await Service.query(db)
    .forTenant(tenantId)
    .whereRaw('id = any(?::uuid[])', [serviceIds])
    .select('id', 'serviceType');
  const logics = await PricingLogic.query(db)
    .forTenant(tenantId)
    .existing()
    .whereRaw('service_id = any(?::uuid[])', [serviceIds]);
  const attributes = await Attribute.query(db)
    .forTenant(tenantId)
    .existing()
    .whereRaw('(service_id = any(?::uuid[]) or contract_service_id = any(?::uuid[]))', [
      serviceIds,
      lineIds,
    ]);
  return ({ serviceId, lineId }) => {
    const known = [
      ...attributes.filter((attribute) => attribute.serviceId === serviceId),
      ...attributes.filter(
        (attribute) => lineId !== null && attribute.contractServiceId === lineId,
      ),
    ];
    // The line's own come last, and take the place of the service's.
    const byName = new Map(
      known.map(({ name, dimensionDataType: dataType, isMeterDimension: isMeter }) => [
        name,
        { name, dataType, isMeter },
      ]),
    );
    return {
      serviceType: services.find(({ id }) => id === serviceId)?.serviceType ?? 'Usage',
      attributes: [...byName.values()],
      logics: logics.filter((logic) => logic.serviceId === serviceId),
      namesById: new Map(known.map(({ id, name }) => [id, name])),
    };
  };
}

/** The warnings about rows that nothing reaches, of each card of each owner (docs/decisions/0309). */
export async function findIdleRowWarnings(
  db: Knex,
  tenantId: string,
  owners: readonly CardsOf[],
): Promise<ReadonlyMap<RateCardDto, readonly string[]>> {
  const factsOf = await loadFacts(db, tenantId, owners);
  const found = new Map<RateCardDto, readonly string[]>();
  for (const owner of owners) {
    const facts = factsOf(owner);
    for (const card of owner.cards) {
      const idle = await inPortions(findIdleRows(await checkedCard(facts, card)));
      found.set(card, warningsOf(card.rows, idle));
    }
  }
  return found;
}
