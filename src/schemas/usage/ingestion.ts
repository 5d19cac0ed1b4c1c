import { Type } from 'typebox';
import { examples } from '../openapi/examples.js';
import { nullable } from '../fields/field.js';
import { operation, reply } from '../http/operation.js';
import { UsageMessage } from './usage-message.js';

/** Only what the gateway itself checks; the rest is checked while rating (spec/gateway.md R2). */
export const IngestionBody = Type.Object(
  {
    message: Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      description: 'The usage event.',
      documented: UsageMessage,
    }),
    key: Type.Optional(
      Type.Unknown({
        description: 'Record key; the external transaction id is recommended. Not text: its JSON.',
      }),
    ),
  },
  { description: 'A usage event for the broker.' },
);

export const IngestionResult = Type.Object(
  {
    status: Type.Literal('published', { description: 'The broker has the event.' }),
    topic: Type.String({ description: "The tenant's topic." }),
    partition: Type.Integer({ description: 'Partition, which follows from the account.' }),
    offset: Type.Integer({ description: 'Place in the partition, counted from 0.' }),
  },
  { description: 'Where the broker put the event.' },
);

const IngestionBatchItem = Type.Object(
  {
    status: Type.Optional(Type.Literal('published', { description: 'The broker has the event.' })),
    topic: Type.Optional(Type.String({ description: "The tenant's topic." })),
    partition: Type.Optional(Type.Integer({ description: 'Partition.' })),
    offset: Type.Optional(Type.Integer({ description: 'Place in the partition.' })),
    is_gateway_error: Type.Optional(Type.Boolean({ description: 'False.' })),
    status_code: Type.Optional(Type.Integer({ description: 'The status it has alone.' })),
    error: Type.Optional(
      Type.Object(
        { message: Type.String({ description: 'What is wrong with it.' }) },
        { description: 'Why it was not accepted.' },
      ),
    ),
    extra_fields: Type.Optional(nullable(Type.Object({}, { description: 'Empty.' }))),
  },
  { description: 'Where the event is, or why it was not accepted: the body that it gets alone.' },
);

const tag = 'Usage ingestion';

export const ingestionOperations = {
  publish: operation({
    id: 'ingestUsage',
    method: 'POST',
    path: '/v1/ingest/usage',
    tag,
    summary: 'Publish a usage event',
    description: '200 says that the broker has the event, not that it was rated.',
    family: 'ingestion',
    access: 'token',
    rateLimit: 'events',
    body: IngestionBody,
    example: examples.usageEvent,
    success: reply.dto(IngestionResult),
    errors: [400, 413, 502, 504],
  }),
  publishBatch: operation({
    id: 'ingestUsageBatch',
    method: 'POST',
    path: '/v1/ingest/usage/batch',
    tag,
    summary: 'Publish up to 1,000 usage events',
    description:
      'Each is answered in its place: accepted, or with the error body that it gets alone.',
    family: 'ingestion',
    access: 'token',
    rateLimit: 'events',
    body: Type.Array(
      Type.Unsafe<unknown>({
        description: 'A body as of POST /v1/ingest/usage.',
        documented: IngestionBody,
      }),
      { maxItems: 1000, description: 'Ingestion bodies, as of POST /v1/ingest/usage.' },
    ),
    example: [examples.usageEvent],
    success: reply.dto(Type.Array(IngestionBatchItem, { description: 'The results, in order.' })),
    errors: [400, 413, 502, 504],
  }),
};
