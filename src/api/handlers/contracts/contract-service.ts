import { utcDate } from '../../../kernel/time/date.js';
import {
  createContractService,
  deleteContractService,
  endContractService,
  endContractServiceByInstance,
  updateContractService,
} from '../../../commands/contracts/contract-service.js';
import { getLine, listContractServices } from '../../../queries/contracts/contract-service.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const contractServiceHandlers: Handlers<Operations['contractService']> = {
  list: ({ params, query }, scope) =>
    listContractServices(scope, params.contractId, pageRequest(query)),
  get: ({ params: { contractId, contractServiceId } }, { db, tenantId, now }) =>
    getLine(db.read, tenantId, contractServiceId, utcDate(now()), contractId),
  getAlone: ({ params }, { db, tenantId, now }) =>
    getLine(db.read, tenantId, params.contractServiceId, utcDate(now())),
  create: ({ params, body }, scope) => createContractService(scope, params.contractId, body),
  update: ({ params, body }, scope) => updateContractService(scope, params, body),
  updateAlone: ({ params, body }, scope) => updateContractService(scope, params, body),
  delete: ({ params }, scope) => deleteContractService(scope, params),
  end: ({ params, body }, scope) => endContractService(scope, params, body),
  endAlone: ({ params, body }, scope) => endContractService(scope, params, body),
  endByInstance: ({ params, body }, scope) =>
    endContractServiceByInstance(scope, params.serviceInstanceId, body),
};
