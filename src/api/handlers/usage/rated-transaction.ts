import { limitCharge } from '../../../queries/access/embedded-record.js';
import {
  getRatedTransaction,
  listRatedTransactions,
} from '../../../queries/usage/rated-transaction.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const ratedTransactionHandlers: Handlers<Operations['ratedTransaction']> = {
  list: async ({ query }, scope) => {
    const listed = await listRatedTransactions(scope, pageRequest(query), query);
    return { ...listed, items: listed.items.map((charge) => limitCharge(scope, charge)) };
  },
  get: async ({ params }, scope, { archive }) =>
    limitCharge(scope, await getRatedTransaction(scope, archive, params.transactionId)),
};
