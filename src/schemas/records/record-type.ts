import { Type, type Static } from 'typebox';
import { examples } from '../openapi/examples.js';
import {
  FreeText,
  Instant,
  nullable,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { Flag, offsetQuery } from '../http/paging.js';

/** What a field of a record may hold. */
export const recordFieldTypes = ['string', 'number', 'boolean', 'date', 'object', 'array'] as const;
export type RecordFieldType = (typeof recordFieldTypes)[number];

const FieldType = Type.Unsafe<RecordFieldType>({
  type: 'string',
  enum: [...recordFieldTypes],
  description:
    'string, number, boolean, date (YYYY-MM-DD or an ISO 8601 instant), object or array.',
});

/** A name that can stand in a filter: no dot, colon or comma, no blank at its ends. */
const FieldName = Type.String({
  description: 'Name of the field; without dot, colon or comma.',
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\s.:,]([^.:,]*[^\\s.:,])?$',
  expected: 'a name without dot, colon and comma, and without a blank at its ends',
});

export const RecordFieldWrite = writeBody(
  {
    name: FieldName,
    type: FieldType,
    required: optional(Type.Boolean({ description: 'Whether every record must have it.' })),
    unique: optional(
      Type.Boolean({ description: 'Whether no two records may have the same value.' }),
    ),
    values: optional(
      Type.Array(Type.Unsafe<unknown>({ description: 'An allowed value.' }), {
        minItems: 1,
        maxItems: 1000,
        description: 'The allowed values: texts, numbers, booleans or dates, as the type says.',
      }),
    ),
  },
  { description: 'A field of the records.' },
);

export const RecordField = Type.Object(
  {
    name: Type.String({ description: 'Name of the field.' }),
    type: FieldType,
    required: Type.Optional(
      Type.Boolean({ description: 'Whether every record must have it; absent: no.' }),
    ),
    unique: Type.Optional(
      Type.Boolean({ description: 'Whether no two records may have the same value; absent: no.' }),
    ),
    values: Type.Optional(
      Type.Array(Type.Unknown({ description: 'An allowed value.' }), {
        description: 'The allowed values; absent: any.',
      }),
    ),
  },
  { description: 'A field of the records.' },
);
export type RecordField = Static<typeof RecordField>;

export const RecordTypeCreate = writeBody(
  {
    name: Text('Name of the record type, unique; it can stand for the id in paths.'),
    label: optional(Text('Name to show.')),
    description: optional(FreeText('What its records are.')),
    fields: optional(
      Type.Array(RecordFieldWrite, {
        maxItems: 500,
        description: 'The fields of its records. Without fields, records hold any object.',
      }),
    ),
  },
  { description: 'A type of records.', ignore: ['createdAt', 'updatedAt'] },
);
export const RecordTypeUpdate = updateBody(RecordTypeCreate);

export const RecordType = Type.Object(
  {
    id: Uuid('Id of the record type: the mobjectId.'),
    name: Type.String({ description: 'Name of the record type.' }),
    label: nullable(Type.String({ description: 'Name to show.' })),
    description: nullable(Type.String({ description: 'What its records are.' })),
    fields: nullable(
      Type.Array(RecordField, {
        description: 'The fields of its records; null: records hold any object.',
      }),
    ),
    createdAt: Instant('When it was created.'),
    updatedAt: Instant('When it was last changed.'),
  },
  { description: 'A type of records.' },
);

/** spec/platform.md R23. */
export const RecordDeletion = Type.Object(
  {
    success: Type.Boolean({ description: 'Always true.' }),
    message: Type.String({ description: 'What was deleted.' }),
  },
  { description: 'That something was deleted.' },
);

const place = {
  tag: 'Record types',
  family: 'records',
  rateLimit: 'requests',
  textParams: ['mobjectId'],
} as const;
export const recordTypePath = '/v1/mobjects/{mobjectId}';

export const recordTypeOperations = {
  list: operation({
    id: 'listRecordTypes',
    method: 'GET',
    path: '/v1/mobjects',
    ...place,
    summary: 'List record types by name',
    query: Type.Object(offsetQuery),
    details: 'A page of them with their fields.',
    success: reply.offsetPage(RecordType),
    errors: [400],
  }),
  create: operation({
    id: 'createRecordType',
    method: 'POST',
    path: '/v1/mobjects',
    ...place,
    summary: 'Create a record type',
    body: RecordTypeCreate,
    example: examples.recordType,
    details:
      'Without fields, records hold any object; with fields, what is sent is checked against them.',
    success: reply.created(RecordType),
    errors: [400, 409],
  }),
  get: operation({
    id: 'getRecordType',
    method: 'GET',
    path: recordTypePath,
    ...place,
    summary: 'Read a record type, by id or name',
    details: 'With its fields.',
    success: reply.dto(RecordType),
    errors: [404],
  }),
  update: operation({
    id: 'updateRecordType',
    method: 'PUT',
    path: recordTypePath,
    ...place,
    summary: 'Change a record type; fields, when present, replace its fields',
    description:
      'What is stored has to fit the new fields, or nothing is changed: 409 tells how many records ' +
      'do not, and names one.',
    body: RecordTypeUpdate,
    example: examples.recordTypeUpdate,
    success: reply.dto(RecordType),
    errors: [400, 404, 409],
  }),
  delete: operation({
    id: 'deleteRecordType',
    method: 'DELETE',
    path: recordTypePath,
    ...place,
    summary: 'Delete a record type; with force, its records too',
    query: Type.Object({
      force: Flag('Whether to delete its records too; without, a type that has records stays.'),
    }),
    details: '409 while it has records, unless force is true.',
    success: reply.dto(RecordDeletion),
    errors: [400, 404, 409],
  }),
};
