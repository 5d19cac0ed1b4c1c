import {
  listCountries,
  listCurrencies,
  listPicklists,
  listPicklistValues,
} from '../../../queries/reference/reference-data.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

/** The registry of this process answers: no handler here waits for the database. */
export const referenceDataHandlers: Handlers<Operations['referenceData']> = {
  listCountries: ({ query }) => Promise.resolve(listCountries(pageRequest(query), query.q)),
  listCurrencies: ({ query }) => Promise.resolve(listCurrencies(pageRequest(query), query.q)),
  listPicklists: ({ query }) => Promise.resolve(listPicklists(query)),
  listPicklistValues: ({ params, query }) =>
    Promise.resolve(listPicklistValues(params.name, query)),
};
