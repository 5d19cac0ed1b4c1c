import * as account from './account.js';
import * as referenceData from './reference-data.js';

/** Every HTTP operation, by resource. A new resource is one line here and one in `modules`. */
export const operations = {
  account: account.accountOperations,
  referenceData: referenceData.referenceDataOperations,
};

/** The modules whose exports give the schemas of the OpenAPI document their names. */
export const modules: readonly object[] = [account, referenceData];

export type Operations = typeof operations;
