import { createRecord, deleteRecord, updateRecord } from '../../../commands/records/record.js';
import { createRecords } from '../../../commands/records/record-bulk.js';
import { getRecord, listRecords } from '../../../queries/records/record.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';
import { presentBulk } from '../../presenters/bulk-answer.js';

export const recordHandlers: Handlers<Operations['record']> = {
  list: ({ params, query }, scope) => listRecords(scope, params.mobjectId, query),
  search: ({ params, body }, scope) => listRecords(scope, params.mobjectId, body),
  create: ({ params, body }, scope) => createRecord(scope, params.mobjectId, body),
  createBulk: async ({ params, body }, scope) =>
    presentBulk(await createRecords(scope, params.mobjectId, body.data)),
  get: ({ params }, scope) => getRecord(scope, params.mobjectId, params.mdataId),
  update: ({ params, body }, scope) => updateRecord(scope, params.mobjectId, params.mdataId, body),
  delete: ({ params }, scope) => deleteRecord(scope, params.mobjectId, params.mdataId),
};
