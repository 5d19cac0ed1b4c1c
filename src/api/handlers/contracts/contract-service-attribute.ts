import {
  createContractServiceAttribute,
  deleteContractServiceAttribute,
  updateContractServiceAttribute,
} from '../../../commands/contracts/contract-service-attribute.js';
import {
  getContractServiceAttribute,
  listContractServiceAttributes,
} from '../../../queries/contracts/contract-service-attribute.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const contractServiceAttributeHandlers: Handlers<Operations['contractServiceAttribute']> = {
  list: ({ params: { contractId, contractServiceId }, query }, scope) =>
    listContractServiceAttributes(scope, contractId, contractServiceId, pageRequest(query)),
  get: ({ params: { contractId, contractServiceId, attributeId } }, scope) =>
    getContractServiceAttribute(scope, contractId, contractServiceId, attributeId),
  create: ({ params, body }, scope) => createContractServiceAttribute(scope, params, body),
  update: ({ params, body }, scope) =>
    updateContractServiceAttribute(scope, params, params.attributeId, body),
  delete: ({ params }, scope) => deleteContractServiceAttribute(scope, params, params.attributeId),
};
