import { problem, type Problem } from '../kernel/problem.js';
import type { ErrorFamily, ErrorStatus } from '../schemas/http/operation.js';
import { presentProblem } from './presenters/problem.js';

/** One of the failures that end with each status, in the words that it is answered with. */
const failures: Readonly<Record<ErrorStatus, Problem>> = {
  400: problem.validation("'limit' must be a whole number of at least 1, such as 20", {
    field: 'limit',
    value: '0',
  }),
  401: problem.unauthorized('The token has expired; request a new one.'),
  403: problem.forbidden('The role ADMIN is required.'),
  404: problem.notFound("There is no account 'acme'."),
  409: problem.conflict('A record with this key exists already.'),
  413: problem.tooLarge('The body is larger than 1048576 bytes.'),
  429: problem.rateLimited('Too many requests. Wait 30 s.'),
  431: problem.headersTooLarge('The address and the headers are larger than 32 KiB.'),
  502: problem.badGateway('The event could not be published to the broker; send it again.'),
  503: problem.unavailable('The workflow service does not answer at the moment; try again.'),
  504: problem.timeout('The work is not finished yet; it goes on in the background.'),
};

const paths: Readonly<Record<ErrorFamily, string>> = {
  billing: '/api/v1/external/accounts',
  flows: '/api/v1/external/run/billing/account/edit',
  records: '/v1/usage-events',
  ingestion: '/v1/ingest/usage',
  gateway: '/api/oauth/per-user/register',
};

/** What is of each answer its own: in the document it must be the same at each start. */
const fixed: Readonly<Record<string, string>> = {
  timestamp: '2026-04-01T08:00:00.000Z',
  event_id: '01939c6e-7a00-7000-8000-000000000e01',
};

/** An error body of a family with this status, as it is answered. */
export function faultExample(family: ErrorFamily, status: ErrorStatus): object {
  const body = presentProblem(family, failures[status], paths[family]);
  const text = JSON.stringify(body, (name, value: unknown) => fixed[name] ?? value);
  return JSON.parse(text) as object;
}
