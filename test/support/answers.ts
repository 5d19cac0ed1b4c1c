import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type request from 'supertest';
import { openApiDocument } from '../../src/api/docs.js';
import { operations } from '../../src/schemas/index.js';
import type { Operation } from '../../src/schemas/operation.js';

/** Every declared operation. */
export const declaredOperations: readonly Operation[] = Object.values(operations).flatMap(
  (ofResource) => Object.values<Operation>(ofResource),
);

const statusesSeen = new Map<string, Set<number>>();

/** The statuses that an operation has answered with in this run. */
export const seenStatuses = (operation: Operation): ReadonlySet<number> =>
  statusesSeen.get(operation.id) ?? new Set();

const segments = (path: string): string[] => (path.split('?')[0] ?? '').split('/');
const literals = (path: string): number =>
  segments(path).filter((part) => !part.startsWith('{')).length;

/** The operation that serves a request: of several paths that fit, that of the most literal one. */
export function operationOf(method: string, path: string): Operation | undefined {
  const parts = segments(path);
  const fits = declaredOperations.filter((operation) => {
    const wanted = segments(operation.path);
    return (
      wanted.length === parts.length &&
      wanted.every((part, index) => part.startsWith('{') || part === parts[index])
    );
  });
  const [first] = fits.sort((a, b) => literals(b.path) - literals(a.path));
  return fits.find((operation) => operation.path === first?.path && operation.method === method);
}

type Schema = Record<string, unknown>;
interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Document {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, Response> }>>;
  readonly components: { readonly responses: Record<string, Response> };
}

/** Objects hold what is declared and nothing else: an undeclared property is a lie of the document. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  const isOpenObject =
    copy['type'] === 'object' &&
    typeof copy['properties'] === 'object' &&
    !('additionalProperties' in copy) &&
    !('patternProperties' in copy);
  return isOpenObject ? { ...copy, additionalProperties: false } : copy;
}

const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true });
addFormats.default(ajv);

let document: Document | undefined;

/** What the body of an answer must be; what is no JSON has no schema. */
interface Body {
  readonly mediaType: string;
  readonly fits: ValidateFunction | null;
}
const bodies = new Map<string, Body | null>();

/** The body of an answer; null where there is none, undefined where the status is not documented. */
function bodyOf(operation: Operation, status: number): Body | null | undefined {
  const key = `${operation.id} ${status}`;
  const known = bodies.get(key);
  if (known !== undefined) return known;
  document ??= closed(openApiDocument()) as Document;
  const responses = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses;
  const given = responses?.[String(status)];
  if (!given) return undefined;
  const response =
    given.$ref === undefined
      ? given
      : document.components.responses[given.$ref.split('/').pop() ?? ''];
  const [mediaType, media] = Object.entries(response?.content ?? {})[0] ?? [];
  const body =
    mediaType === undefined || !media
      ? null
      : {
          mediaType,
          fits:
            mediaType === 'application/json'
              ? ajv.compile({ ...media.schema, components: document.components })
              : null,
        };
  bodies.set(key, body);
  return body;
}

/** An answer as any client gives it. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/**
 * Notes what an operation answered and throws unless the OpenAPI document has that status and body
 * for it. Addresses that belong to no operation are left alone.
 */
export function checkAnswer(method: string, path: string, answer: Answer): void {
  const operation = operationOf(method, path);
  if (!operation) return;
  const { status, type, text } = answer;
  const name = `${method} ${path.slice(0, 200)} (${operation.id}) answered ${status}`;
  const body = bodyOf(operation, status);
  if (body === undefined) {
    throw new Error(`${name}, which is not documented: ${text.slice(0, 500)}`);
  }
  const seen = statusesSeen.get(operation.id) ?? new Set();
  statusesSeen.set(operation.id, seen.add(status));
  if (body === null) {
    if (text !== '') throw new Error(`${name} with a body: ${text.slice(0, 500)}`);
    return;
  }
  if (!type.startsWith(body.mediaType)) throw new Error(`${name} with the type '${type}'`);
  if (!body.fits || body.fits(JSON.parse(text))) return;
  const faults = (body.fits.errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    );
  throw new Error(`${name} against its schema: ${faults.join('; ')}\n${text.slice(0, 1000)}`);
}

/** Makes a request of supertest fail its test when the answer is not as documented. */
export function checked(method: string, path: string, test: request.Test): request.Test {
  return test.expect((response) => {
    const type = String(response.headers['content-type'] ?? '');
    checkAnswer(method, path, { status: response.status, type, text: response.text ?? '' });
  });
}
