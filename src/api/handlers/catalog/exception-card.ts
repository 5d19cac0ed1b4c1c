import {
  createExceptionCard,
  createExceptionCardVersion,
  deleteExceptionCard,
  deleteExceptionCardVersion,
  putExceptionCard,
} from '../../../commands/catalog/exception-card.js';
import {
  getExceptionCard,
  listExceptionCards,
  listExceptionCardVersions,
} from '../../../queries/catalog/exception-card.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';

export const exceptionCardHandlers: Handlers<Operations['exceptionCard']> = {
  list: ({ params: { contractId, contractServiceId }, query }, scope) =>
    listExceptionCards(scope, contractId, contractServiceId, pageRequest(query)),
  get: ({ params: { contractId, contractServiceId, currency } }, scope) =>
    getExceptionCard(scope, contractId, contractServiceId, currency),
  listVersions: ({ params: { contractId, contractServiceId, currency }, query }, scope) =>
    listExceptionCardVersions(scope, contractId, contractServiceId, currency, pageRequest(query)),
  createVersion: ({ params, body }, scope) =>
    createExceptionCardVersion(scope, params, params.currency, body),
  deleteVersion: ({ params }, scope) =>
    deleteExceptionCardVersion(scope, params, params.currency, params.versionNo),
  create: ({ params, body }, scope) => createExceptionCard(scope, params, body),
  replace: ({ params, body }, scope) => putExceptionCard(scope, params, params.currency, body),
  delete: ({ params }, scope) => deleteExceptionCard(scope, params, params.currency),
};
