import {
  createContract,
  deleteContract,
  updateContract,
} from '../../../commands/contracts/contract.js';
import { getContract, listContracts } from '../../../queries/contracts/contract.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const contractHandlers: Handlers<Operations['contract']> = {
  list: ({ query: { q, accountId, ...page } }, scope) =>
    listContracts(scope, pageRequest(page), q, accountId === undefined ? {} : { accountId }),
  get: ({ params }, { db, tenantId }) => getContract(db.read, tenantId, params.contractId),
  create: ({ body }, scope) => createContract(scope, body),
  update: ({ params, body }, scope) => updateContract(scope, params.contractId, body),
  delete: ({ params }, scope) => deleteContract(scope, params.contractId),
};
