import {
  getRatedTransaction,
  listRatedTransactions,
} from '../../../queries/usage/rated-transaction.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const ratedTransactionHandlers: Handlers<Operations['ratedTransaction']> = {
  list: ({ query }, scope) => listRatedTransactions(scope, pageRequest(query), query),
  get: ({ params }, scope, { archive }) =>
    getRatedTransaction(scope, archive, params.transactionId),
};
