import { Type, type Static } from 'typebox';
import { examples } from '../openapi/examples.js';
import { Count, Instant, Text, Uuid, writeBody } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { offsetQuery } from '../http/paging.js';
import { RecordDeletion, recordTypePath } from './record-type.js';

/** An object whose content the record type checks, so that faults name its fields. */
const Data = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', description });

const fromServer = { ignore: ['mobjectId', 'createdAt', 'updatedAt'] };

export const RecordCreate = writeBody(
  { data: Data('The fields of the record.') },
  { description: 'A record to create.', ...fromServer },
);
export const RecordUpdate = writeBody(
  { data: Data('The fields to change; null removes one.') },
  { description: 'A change of a record.', ...fromServer },
);

const RecordProperties = {
  id: Uuid('Id of the record.'),
  mobjectId: Uuid('Id of its record type.'),
  data: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    description: 'The fields of the record.',
  }),
  createdAt: Instant('When it was created.'),
  updatedAt: Instant('When it was last changed.'),
};
export const StoredRecord = Type.Object(RecordProperties, { description: 'A record.' });
export type StoredRecord = Static<typeof StoredRecord>;

/** Most objects of one bulk request (spec/platform.md R32). */
export const bulkMax = 10_000;
const bulkBodyMax = 16 * 1024 * 1024;

export const RecordBulk = writeBody(
  {
    data: Type.Array(Type.Unsafe<unknown>({ description: 'The fields of a record, an object.' }), {
      maxItems: bulkMax,
      description: 'The records to create: each stands alone.',
    }),
  },
  { description: 'Records to create.' },
);

export const RecordFailure = Type.Object(
  {
    index: Type.Integer({ description: 'Place in the request, counted from 0.' }),
    error: Type.Object(
      {
        code: Type.String({ description: 'VALIDATION_ERROR or CONFLICT.' }),
        message: Type.String({ description: 'What is wrong.' }),
        details: Type.Record(Type.String(), Type.Unknown(), {
          description: 'The field and value at fault.',
        }),
        timestamp: Instant('When it happened.'),
      },
      { description: 'What went wrong, as a request of its own would be answered.' },
    ),
  },
  { description: 'An object that was not stored.' },
);

export const RecordBulkResult = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether none failed.' }),
    totalProcessed: Count('How many objects there were.'),
    created: Count('How many were stored.'),
    failed: Count('How many were not.'),
    data: Type.Array(
      Type.Unsafe<StoredRecord | Static<typeof RecordFailure>>({
        anyOf: [StoredRecord, RecordFailure],
        description: 'The record, or why it was not stored.',
      }),
      { description: 'One entry for each object, in the order of the request.' },
    ),
  },
  { description: 'What became of the objects.' },
);

const listQuery = {
  ...offsetQuery,
  filter: Type.Optional(
    Type.Array(Type.String({ description: 'field:operator:value', maxLength: 4000 }), {
      maxItems: 20,
      description:
        'field:operator:value, e.g. status:eq:active; repeated, all must hold. Operators: eq, ne, ' +
        'gt, lt, gte, lte, in (values with commas between them), contains. The field may be nested ' +
        '(a.b), or be id, createdAt or updatedAt.',
    }),
  ),
  sort: Type.Optional(
    Text('field, field:asc or field:desc; records without the field come last.', 1000),
  ),
  fields: Type.Optional(Text('Only these fields of the data, with commas between them.', 4000)),
};

export const RecordSearch = Type.Object(
  {
    filter: Type.Optional(
      Type.Array(Type.String({ description: 'field:operator:value', maxLength: 500_000 }), {
        maxItems: 20,
        description:
          'field:operator:value as in the query of the list; all must hold. Together they name at ' +
          'most 10,000 values after in.',
      }),
    ),
    sort: listQuery.sort,
    fields: listQuery.fields,
    ...offsetQuery,
  },
  { description: 'Which records, in which order.', additionalProperties: false },
);

const place = {
  tag: 'Records',
  family: 'records',
  rateLimit: 'requests',
  textParams: ['mobjectId'],
} as const;
const recordsPath = `${recordTypePath}/mdata` as const;
const recordPath = `${recordTypePath}/mdata/{mdataId}` as const;

export const recordOperations = {
  list: operation({
    id: 'listRecords',
    weight: 'heavy',
    method: 'GET',
    path: recordsPath,
    ...place,
    summary: 'List records, filtered and sorted; oldest first when nothing is said',
    query: Type.Object(listQuery),
    details: 'A filter is field:operator:value; several must all hold.',
    success: reply.offsetPage(StoredRecord),
    // Long filters go by `search`.
    errors: [400, 404, 431],
  }),
  search: operation({
    id: 'searchRecords',
    isAddition: true,
    weight: 'heavy',
    method: 'POST',
    path: `${recordsPath}/search`,
    ...place,
    isReadOnly: true,
    summary: 'List records as the list does, with filters that are too long for an address',
    body: RecordSearch,
    example: examples.recordSearch,
    details: 'The same filters, order and pages, in a body.',
    success: reply.offsetPage(StoredRecord),
    errors: [400, 404],
  }),
  create: operation({
    id: 'createRecord',
    method: 'POST',
    path: recordsPath,
    ...place,
    summary: 'Create a record',
    body: RecordCreate,
    example: examples.record,
    access: 'operator',
    details: 'Checked against the fields of its type; 409 when a unique value is taken.',
    success: reply.created(StoredRecord),
    errors: [400, 404, 409],
  }),
  createBulk: operation({
    id: 'createRecords',
    weight: 'heavy',
    method: 'POST',
    path: `${recordsPath}/bulk`,
    ...place,
    summary: 'Create up to 10,000 records, each on its own',
    description:
      'An object that is not valid, or has a unique value that is taken, does not keep the others ' +
      'from being stored. The body may be as large as 16 MiB.',
    body: RecordBulk,
    bodyMax: bulkBodyMax,
    example: examples.recordBulk,
    access: 'operator',
    success: reply.dto(RecordBulkResult),
    errors: [400, 404],
  }),
  get: operation({
    id: 'getRecord',
    method: 'GET',
    path: recordPath,
    ...place,
    summary: 'Read a record',
    details: 'With its data as it was sent.',
    success: reply.dto(StoredRecord),
    errors: [404],
  }),
  update: operation({
    id: 'updateRecord',
    method: 'PUT',
    path: recordPath,
    ...place,
    summary: 'Change the fields of a record that are given; null removes one',
    body: RecordUpdate,
    example: examples.recordUpdate,
    access: 'operator',
    details: 'What is left out stays; the result is checked against the fields of its type.',
    success: reply.dto(StoredRecord),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteRecord',
    method: 'DELETE',
    path: recordPath,
    ...place,
    summary: 'Delete a record',
    access: 'operator',
    details: 'The audit keeps what it was.',
    success: reply.dto(RecordDeletion),
    errors: [404],
  }),
};
