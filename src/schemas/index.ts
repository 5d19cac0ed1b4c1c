import { accountOperations } from './account.js';

/** Every HTTP operation, by resource. A new resource is one line here. */
export const operations = {
  account: accountOperations,
};

export type Operations = typeof operations;
