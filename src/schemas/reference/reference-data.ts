import { Type } from 'typebox';
import { Uuid } from '../fields/field.js';
import { external, operation, reply } from '../http/operation.js';
import { offsetQuery, referencePageQuery, searchQuery } from '../http/paging.js';
import { rowSpec } from '../http/row.js';

export const Country = Type.Object(
  {
    id: Uuid('Id of the country.'),
    name: Type.String({ description: 'English name.' }),
    code: Type.String({ description: 'ISO 3166-1 alpha-2 code.' }),
    alpha2Code: Type.String({ description: 'ISO 3166-1 alpha-2 code.' }),
    alpha3Code: Type.String({ description: 'ISO 3166-1 alpha-3 code.' }),
  },
  { description: 'A country that addresses may name.' },
);

export const Currency = Type.Object(
  {
    id: Uuid('Id of the currency.'),
    code: Type.String({ description: 'ISO 4217 code.' }),
    name: Type.String({ description: 'English name.' }),
    symbol: Type.String({ description: 'Symbol, as people write it.' }),
  },
  { description: 'A currency; its code or name is accepted wherever one is expected.' },
);

export const PicklistValue = Type.Object(
  {
    id: Uuid('Id of the value; the same on every installation.'),
    name: Type.String({ description: 'The value, as it is sent and returned.' }),
  },
  { description: 'A value of a picklist.' },
);

export const Picklist = Type.Object(
  {
    name: Type.String({ description: 'Name of the picklist.' }),
    values: Type.Array(PicklistValue, { description: 'Its values, in their order.' }),
  },
  { description: 'A picklist with its values.' },
);

const tag = 'Reference data';

export const referenceDataOperations = {
  listCountries: operation({
    id: 'listCountries',
    method: 'GET',
    path: external('/countries'),
    tag,
    summary: 'List countries',
    query: Type.Object({ ...referencePageQuery, ...searchQuery('the name or an ISO code') }),
    details: 'Wherever a country is asked for, its name or one of its codes is taken.',
    success: reply.rowPage(rowSpec('Country', Country)),
    errors: [400],
  }),
  listCurrencies: operation({
    id: 'listCurrencies',
    method: 'GET',
    path: external('/currencies'),
    tag,
    summary: 'List currencies',
    query: Type.Object({ ...referencePageQuery, ...searchQuery('the code or name') }),
    details: 'Wherever a currency is asked for, its code, name or id is taken.',
    success: reply.page(Currency),
    errors: [400],
  }),
  listPicklists: operation({
    id: 'listPicklists',
    method: 'GET',
    path: '/v1/picklists',
    tag,
    family: 'records',
    summary: 'List the picklists with their values',
    query: Type.Object(offsetQuery),
    details: 'Each with its values and their ids, which are the same in every instance.',
    success: reply.offsetPage(Picklist),
    errors: [400],
  }),
  listPicklistValues: operation({
    id: 'listPicklistValues',
    method: 'GET',
    path: '/v1/picklists/{name}',
    tag,
    family: 'records',
    summary: 'List the values of a picklist',
    query: Type.Object(offsetQuery),
    details: 'Wherever a value is asked for, its name is taken in any letter case.',
    success: reply.offsetPage(PicklistValue),
    errors: [400, 404],
  }),
};
