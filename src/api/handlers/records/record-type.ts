import {
  createRecordType,
  deleteRecordType,
  updateRecordType,
} from '../../../commands/records/record-type.js';
import { getRecordType, listRecordTypes } from '../../../queries/records/record-type.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const recordTypeHandlers: Handlers<Operations['recordType']> = {
  list: ({ query }, scope) => listRecordTypes(scope, query),
  create: ({ body }, scope) => createRecordType(scope, body),
  get: ({ params }, scope) => getRecordType(scope, params.mobjectId),
  update: ({ params, body }, scope) => updateRecordType(scope, params.mobjectId, body),
  delete: ({ params, query }, scope) => deleteRecordType(scope, params.mobjectId, query),
};
