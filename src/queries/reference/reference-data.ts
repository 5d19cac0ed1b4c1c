import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import {
  referenceData,
  type Country,
  type Currency,
  type PicklistValue,
} from '../../kernel/reference-data.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/reference/reference-data.js';

type CountryDto = Static<typeof schema.Country>;
type CurrencyDto = Static<typeof schema.Currency>;
type PicklistDto = Static<typeof schema.Picklist>;
type PicklistValueDto = Static<typeof schema.PicklistValue>;

/** Reads picklists, currencies and countries into the registry of this process. */
export async function loadReferenceData(db: Knex): Promise<void> {
  const [picklistValues, currencies, countries] = await Promise.all([
    db<PicklistValue>('picklistValue').orderBy(['picklist', 'position']),
    db<Currency>('currency').orderBy('code'),
    db<Country>('country')
      .select('id', 'name', 'alpha2Code', 'alpha3Code', { code: 'alpha2Code' })
      .orderBy('name'),
  ]);
  referenceData.load({ picklistValues, currencies, countries });
}

function pageOf<T>(items: readonly T[], { limit, offset }: PageRequest): Listed<T> {
  return { items: items.slice(offset, offset + limit), total: items.length };
}

/** Whether one of the texts contains `q`, in any letter case; without `q` all do. */
function contains(q: string | undefined, texts: readonly string[]): boolean {
  const wanted = q?.toLowerCase() ?? '';
  return texts.some((text) => text.toLowerCase().includes(wanted));
}

/** One page of the countries, by name; `q` searches name and ISO codes (spec/resources.md R87). */
export function listCountries(page: PageRequest, q: string | undefined): Listed<CountryDto> {
  const found = referenceData.countries.filter(({ name, alpha2Code, alpha3Code }) =>
    contains(q, [name, alpha2Code, alpha3Code]),
  );
  const { items, total } = pageOf(found, page);
  return {
    items: items.map(({ id, name, code, alpha2Code, alpha3Code }) => ({
      id,
      name,
      code,
      alpha2Code,
      alpha3Code,
    })),
    total,
  };
}

/** One page of the currencies, by code; `q` searches code and name (spec/resources.md R87). */
export function listCurrencies(page: PageRequest, q: string | undefined): Listed<CurrencyDto> {
  const found = referenceData.currencies.filter(({ code, name }) => contains(q, [code, name]));
  const { items, total } = pageOf(found, page);
  return { items: items.map(({ id, code, name, symbol }) => ({ id, code, name, symbol })), total };
}

function picklists(): PicklistDto[] {
  const valuesByName = new Map<string, PicklistValueDto[]>();
  for (const { picklist, id, name } of referenceData.picklistValues) {
    const values = valuesByName.get(picklist) ?? [];
    values.push({ id, name });
    valuesByName.set(picklist, values);
  }
  return [...valuesByName].map(([name, values]) => ({ name, values }));
}

/** The picklists with their values, by name. */
export function listPicklists(page: PageRequest): Listed<PicklistDto> {
  return pageOf(picklists(), page);
}

/** The values of one picklist, in their order. 404: there is no such picklist. */
export function listPicklistValues(name: string, page: PageRequest): Listed<PicklistValueDto> {
  const wanted = name.toLowerCase();
  const picklist = picklists().find((known) => known.name.toLowerCase() === wanted);
  if (!picklist) throw problem.notFound(`There is no picklist '${name}'.`);
  return pageOf(picklist.values, page);
}
