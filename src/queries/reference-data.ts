import type { Knex } from 'knex';
import {
  referenceData,
  type Country,
  type Currency,
  type PicklistValue,
} from '../kernel/reference-data.js';

/** Reads picklists, currencies and countries into the registry of this process. */
export async function loadReferenceData(db: Knex): Promise<void> {
  const [picklistValues, currencies, countries] = await Promise.all([
    db<PicklistValue>('picklistValue').orderBy(['picklist', 'position']),
    db<Currency>('currency').orderBy('code'),
    db<Country>('country')
      .select('id', 'name', 'alpha2Code', 'alpha3Code', { code: 'alpha2Code' })
      .orderBy('name'),
  ]);
  referenceData.load({ picklistValues, currencies, countries: countries as Country[] });
}
