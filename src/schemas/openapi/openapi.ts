import { defined } from '../../kernel/defined.js';
import type { ErrorFamily, ErrorStatus, Operation } from '../http/operation.js';
import { errorStatuses } from '../http/error-statuses.js';
import { idempotencyKeyForm, takesIdempotencyKey } from '../http/idempotency-key.js';
import { accessOf, rolesOf } from '../http/operation-access.js';
import { SchemaTranslator, type JsonSchema } from './openapi-schema.js';
import { openApiReplies } from './openapi-reply.js';
import { errorSchemas } from '../http/problem.js';
import { tagsOf } from './tags.js';
import { describeParam, recordOfParam, type KeyedRecord } from '../http/record-id.js';

/** What the document needs besides the declarations. */
export interface OpenApiFacts {
  /** Version of this software. */
  readonly version: string;
  /** The names of a picklist's values; none when they are not loaded. */
  readonly picklist: (name: string) => readonly string[];
  /** What operations answer, by their ids: see docs/decisions/0254. */
  readonly answers?: Readonly<Record<string, unknown>>;
  /** An error body of a family with this status. */
  readonly fault?: (family: ErrorFamily, status: ErrorStatus) => object;
}

const familyNames: Readonly<Record<ErrorFamily, string>> = {
  billing: 'Billing',
  flows: 'Flow',
  records: 'Records',
  ingestion: 'Ingestion',
  gateway: 'Gateway',
};

const statusNames: Readonly<Record<ErrorStatus, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'The request is not valid; the message names what is wrong.'],
  401: ['Unauthorized', 'The token is missing, invalid or expired, or its tenant does not exist.'],
  403: ['Forbidden', 'The token has none of the roles that it takes, or its tenant is suspended.'],
  404: ['NotFound', 'There is no such record.'],
  409: ['Conflict', 'It collides with what is stored.'],
  413: ['TooLarge', 'The body is larger than 1 MiB, or than the operation says.'],
  429: ['RateLimited', 'Too many requests; see Retry-After.'],
  431: ['HeadersTooLarge', 'The address and the headers are larger than 32 KiB.'],
  502: ['BadGateway', 'The broker could not take it.'],
  503: ['Unavailable', 'A part of the service does not answer at the moment; see Retry-After.'],
  504: ['TimedOut', 'It took longer than the time limit.'],
};

const headers = {
  RequestId: {
    description: 'Id of the request; your own, when you send a sane one.',
    schema: { type: 'string' },
  },
  RetryAfter: { description: 'Seconds to wait.', schema: { type: 'integer' } },
  Attachment: {
    description: 'Always attachment, with the name of the file.',
    schema: { type: 'string' },
  },
  Location: { description: 'Where to go on.', schema: { type: 'string' } },
  RateLimit: { description: 'Requests a minute of your plan.', schema: { type: 'integer' } },
  RateLimitRemaining: {
    description: 'Requests that are left in this minute.',
    schema: { type: 'integer' },
  },
  RateLimitReset: {
    description: 'When the minute ends, in Unix seconds.',
    schema: { type: 'integer' },
  },
  Authenticate: { description: 'Always Bearer.', schema: { type: 'string' } },
} as const;

const headerRef = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` });

/** Headers of every answer to a request that was counted (spec/platform.md R45). */
const rateLimitHeaders = {
  'X-RateLimit-Limit': headerRef('RateLimit'),
  'X-RateLimit-Remaining': headerRef('RateLimitRemaining'),
  'X-RateLimit-Reset': headerRef('RateLimitReset'),
};

function errorHeaders(status: ErrorStatus, isCounted: boolean): object {
  return {
    'X-Request-Id': headerRef('RequestId'),
    ...(status === 401 ? { 'WWW-Authenticate': headerRef('Authenticate') } : {}),
    ...(status === 429 || status === 503 ? { 'Retry-After': headerRef('RetryAfter') } : {}),
    ...(isCounted ? rateLimitHeaders : {}),
  };
}

/** One component for each status and family that some operation uses. */
function errorResponse(
  { family = 'billing', rateLimit }: Operation,
  status: ErrorStatus,
  responses: Record<string, object>,
  { translator, fault }: { readonly translator: SchemaTranslator } & Pick<OpenApiFacts, 'fault'>,
): object {
  const [name, description] = statusNames[status];
  // Without a valid token the tenant, and so its plan, is unknown.
  const isCounted = rateLimit === 'requests' && status !== 401;
  const key = `${isCounted ? 'Counted' : ''}${familyNames[family]}${name}`;
  responses[key] ??= {
    description,
    headers: errorHeaders(status, isCounted),
    content: {
      'application/json': {
        schema: translator.define(`${familyNames[family]}Error`, () =>
          translator.translate(errorSchemas[family]),
        ),
        ...(fault === undefined ? {} : { example: fault(family, status) }),
      },
    },
  };
  return { $ref: `#/components/responses/${key}` };
}

const words = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function describeInPath(
  name: string,
  { isUuid, record }: { readonly isUuid: boolean; readonly record: KeyedRecord | undefined },
): string {
  if (record) return describeParam(record);
  if (name === 'currency') return 'Code or name of the currency.';
  return isUuid ? `Id of the ${words(name.slice(0, -2))}.` : `The ${words(name)}.`;
}

function pathParameters({ path, textParams = [], pathValues = {} }: Operation): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const record = textParams.includes(name) ? undefined : recordOfParam(name);
    const isUuid = name.endsWith('Id') && !textParams.includes(name) && record === undefined;
    return {
      name,
      in: 'path',
      required: true,
      description: describeInPath(name, { isUuid, record }),
      schema: isUuid
        ? { type: 'string', format: 'uuid' }
        : { type: 'string', ...(pathValues[name] ? { enum: pathValues[name] } : { minLength: 1 }) },
    };
  });
}

function queryParameters({ query }: Operation, translator: SchemaTranslator): object[] {
  const required = (query as { required?: readonly string[] } | undefined)?.required ?? [];
  return Object.entries(query?.properties ?? {}).map(([name, schema]) => {
    const translated = translator.translate(schema);
    const { description, ...rest } = translated;
    return {
      name,
      in: 'query',
      description,
      // An array is sent by repeating the parameter.
      ...(rest['type'] === 'array' ? { style: 'form', explode: true } : {}),
      // A parameter with a default is optional.
      ...(required.includes(name) && !('default' in rest) ? { required: true } : {}),
      schema: rest,
    };
  });
}

const idempotencyKeyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A key of your own for this request: sent again with the same body, it has one effect and one answer; ' +
    'with another request it is refused with 409.',
  // HTTP drops blanks around a header; of an empty one nothing is left.
  schema: { type: 'string', pattern: `^[ \\t]*${idempotencyKeyForm}[ \\t]*$` },
};

function successResponse(
  { id, success, rateLimit }: Operation,
  replies: ReturnType<typeof openApiReplies>,
  { answers = {} }: OpenApiFacts,
): object {
  const content = replies(success, answers[id]);
  const description = {
    200: 'Done.',
    201: 'Created.',
    204: 'Done; there is no body.',
    302: 'Go on at Location.',
    503: 'Not ready.',
  }[success.status];
  return {
    description,
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      ...(rateLimit === 'requests' ? rateLimitHeaders : {}),
      ...(success.kind === 'file' || success.kind === 'stream'
        ? { 'Content-Disposition': headerRef('Attachment') }
        : {}),
      ...(success.kind === 'redirect' ? { Location: headerRef('Location') } : {}),
    },
    ...defined({ content }),
  };
}

/** The description of an operation, with the roles that it requires. */
function describe(operation: Operation): string {
  const roles = rolesOf(operation);
  const needed =
    roles === undefined
      ? accessOf(operation) === 'public'
        ? 'Needs no token.'
        : 'Needs a token, of whatever role.'
      : `Needs the role ${roles.join(' or ')}.`;
  const { description, details, adminFields = [] } = operation;
  const only = adminFields.map((field) => `Needs ADMIN with \`${field}\`.`);
  return [description, details, needed, ...only].filter((text) => text !== undefined).join(' ');
}

const introduction = `Usage-based billing on durable execution: accounts, contracts, a catalog with
rate cards and pricing formulas, and rated usage.

Every request carries \`Authorization: Bearer <ACCESS_TOKEN>\`, a JWT or an access key of this
instance. Money and quantities are JSON numbers with all their digits: read them with a decimal
parser. Dates are \`YYYY-MM-DD\`. Names of picklists, currencies and countries are accepted in any
letter case.`;

/**
 * The OpenAPI 3.1 document of the operations. Declarations that `modules` export become components
 * of the same name; the answers are shown as they are wrapped on the wire.
 */
export function describeApi(
  operations: readonly Operation[],
  modules: readonly object[],
  facts: OpenApiFacts,
): JsonSchema {
  const translator = new SchemaTranslator(modules, facts.picklist);
  const replies = openApiReplies(operations, translator);
  const responses: Record<string, object> = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { body, success } = operation;
    const roles = rolesOf(operation);
    const parameters = [
      ...pathParameters(operation),
      ...queryParameters(operation, translator),
      ...(takesIdempotencyKey(operation) ? [idempotencyKeyParameter] : []),
    ];
    const answers: Record<string, object> = {
      [success.status]: successResponse(operation, replies, facts),
    };
    for (const status of errorStatuses(operation)) {
      answers[status] ??= errorResponse(operation, status, responses, { translator, ...facts });
    }
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] ?? {}, {
      [operation.method.toLowerCase()]: {
        operationId: operation.id,
        tags: [operation.tag],
        summary: operation.summary,
        description: describe(operation),
        security: accessOf(operation) === 'public' ? [] : [{ bearer: [] }],
        ...defined({ 'x-roles': roles }),
        ...(parameters.length === 0 ? {} : { parameters }),
        ...(body ? { requestBody: requestBody(operation, translator.translate(body)) } : {}),
        responses: answers,
      },
    });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Durabill',
      version: facts.version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(operations),
    paths,
    components: { schemas: translator.components, responses, headers, securitySchemes },
  };
}

const securitySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A JWT or an access key: `npm run --silent durabill -- token --help`.',
  },
};

const requestBody = ({ example, isBodyOptional }: Operation, schema: JsonSchema): object => ({
  required: isBodyOptional !== true,
  content: { 'application/json': { schema, ...defined({ example }) } },
});
