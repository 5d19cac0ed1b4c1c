import { Type } from 'typebox';
import type { ProblemKind } from '../../kernel/problem.js';
import type { ErrorFamily } from './operation.js';

const billingFields = {
  status: Type.Integer({ description: 'The HTTP status.' }),
  error: Type.String({ description: 'What kind of error it is, e.g. Validation Error.' }),
  message: Type.String({ description: 'What is wrong; the fields at fault are named.' }),
  path: Type.String({ description: 'The path of the request, as uri=<path>.' }),
};

/** spec/resources.md R11. */
const BillingError = Type.Object(billingFields, { description: 'An error of the billing API.' });

/** The same of a flow, with the execution that failed (spec/flows.md R8). */
export const FlowError = Type.Object(
  {
    ...billingFields,
    flowExecutionId: Type.Optional(
      Type.String({ format: 'uuid', description: 'The flow execution that failed.' }),
    ),
  },
  { description: 'An error of a flow.' },
);

/** The error body of family C (spec/platform.md R14). */
const RecordsError = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({ description: 'A stable code, e.g. VALIDATION_ERROR.' }),
        message: Type.String({ description: 'What is wrong.' }),
        details: Type.Record(Type.String(), Type.Unknown(), {
          description: 'The field and value at fault, where there is one.',
        }),
        timestamp: Type.String({ format: 'date-time', description: 'When it happened.' }),
      },
      { description: 'What went wrong.' },
    ),
  },
  { description: 'An error of the record and workflow API.' },
);

/** The error body of ingestion (spec/gateway.md R5). */
const IngestionError = Type.Object(
  {
    is_gateway_error: Type.Literal(false, { description: 'Always false here.' }),
    status_code: Type.Integer({ description: 'The HTTP status.' }),
    error: Type.Object(
      { message: Type.String({ description: 'What is wrong.' }) },
      { description: 'What went wrong.' },
    ),
    extra_fields: Type.Object({}, { description: 'Empty.' }),
  },
  { description: 'An error of usage ingestion.' },
);

const nullableText = (description: string) =>
  Type.Union([Type.String(), Type.Null()], { description });

/** The gateway error body (spec/gateway.md R16). */
const GatewayError = Type.Object(
  {
    event_id: Type.String({ format: 'uuid', description: 'Id of this error.' }),
    type: Type.String({ description: 'Always error.' }),
    is_gateway_error: Type.Boolean({ description: 'Whether the gateway itself refused.' }),
    status_code: Type.Integer({ description: 'The HTTP status.' }),
    error: Type.Object(
      {
        type: Type.String({ description: 'What kind of error it is.' }),
        code: Type.String({ description: 'A stable code.' }),
        message: Type.String({ description: 'What is wrong.' }),
        param: nullableText('The parameter at fault.'),
        event_id: Type.String({ format: 'uuid', description: 'Id of this error.' }),
      },
      { description: 'What went wrong.' },
    ),
    extra_fields: Type.Object(
      {
        provider: nullableText('Not used.'),
        model_requested: nullableText('Not used.'),
        request_type: nullableText('Not used.'),
      },
      { description: 'Further facts.' },
    ),
  },
  { description: 'An error of the gateway.' },
);

/** The error body of each family; `api/presenters/problem.ts` fills them. */
export const errorSchemas = {
  billing: BillingError,
  flows: FlowError,
  records: RecordsError,
  ingestion: IngestionError,
  gateway: GatewayError,
} as const satisfies Readonly<Record<ErrorFamily, object>>;

const codes: Readonly<Record<ProblemKind, string>> = {
  validation: 'VALIDATION_ERROR',
  unauthorized: 'UNAUTHORIZED',
  forbidden: 'FORBIDDEN',
  notFound: 'NOT_FOUND',
  methodNotAllowed: 'METHOD_NOT_ALLOWED',
  conflict: 'CONFLICT',
  limitReached: 'LIMIT_REACHED',
  tooLarge: 'PAYLOAD_TOO_LARGE',
  rateLimited: 'RATE_LIMITED',
  headersTooLarge: 'HEADERS_TOO_LARGE',
  requestTimeout: 'REQUEST_TIMEOUT',
  internal: 'INTERNAL_ERROR',
  badGateway: 'BAD_GATEWAY',
  unavailable: 'UNAVAILABLE',
  overloaded: 'UNAVAILABLE',
  timeout: 'TIMEOUT',
};

/** The code of family C for a kind of problem (spec/platform.md R15). */
export const problemCode = (kind: ProblemKind): string => codes[kind];
