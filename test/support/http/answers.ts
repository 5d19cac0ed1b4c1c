import { appendFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type request from 'supertest';
import { openApiDocument } from '../../../src/api/pages/api-reference.js';
import { operations } from '../../../src/schemas/index.js';
import type { Operation } from '../../../src/schemas/http/operation.js';

/** Every declared operation. */
export const declaredOperations: readonly Operation[] = Object.values(operations).flatMap(
  (ofResource) => Object.values<Operation>(ofResource),
);

/** The variable that names the file of what operations have answered in this run, a line each. */
export const answersFile = 'TEST_ANSWERS';

const seen = new Set<string>();

/** Keeps that an operation has answered with this status, for `coverage.ts`. */
function noteAnswer({ id }: Operation, status: number): void {
  const answer = `${id} ${status}`;
  const file = process.env[answersFile];
  if (file === undefined || seen.has(answer)) return;
  seen.add(answer);
  appendFileSync(file, `${answer}\n`);
}

const segments = (path: string): string[] => (path.split('?')[0] ?? '').split('/');

const addresses = declaredOperations.map((operation) => {
  const parts = segments(operation.path);
  return { operation, parts, literals: parts.filter((part) => !part.startsWith('{')).length };
});

/** The operation that serves a request: of several paths that fit, that of the most literal one. */
export function operationOf(method: string, path: string): Operation | undefined {
  const parts = segments(path);
  const fits = addresses.filter(
    (address) =>
      address.parts.length === parts.length &&
      address.parts.every((part, index) => part.startsWith('{') || part === parts[index]),
  );
  const [first] = fits.sort((a, b) => b.literals - a.literals);
  return fits
    .map(({ operation }) => operation)
    .find((one) => one.path === first?.operation.path && one.method === method);
}

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
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

// Each schema is compiled in each process of tests and asked a few times: optimizing takes longer than it saves.
const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
addFormats.default(ajv);

let known: Document | undefined;

/** The document, also known to the validator: what two answers have in common is compiled once. */
function document(): Document {
  if (known === undefined) {
    known = closed(openApiDocument()) as Document;
    ajv.addSchema(known, 'document', undefined, false);
  }
  return known;
}

/** What the body of an answer must be, by its media type; what is no JSON has no schema. */
type Body = ReadonlyMap<string, ValidateFunction | null>;
const bodies = new Map<string, Body | null>();

const pointer = (...steps: readonly string[]): string =>
  steps
    .map((step) => `/${encodeURIComponent(step.replace(/~/g, '~0').replace(/\//g, '~1'))}`)
    .join('');

/** The body of an answer; null where there is none, undefined where the status is not documented. */
function bodyOf({ id, path, method }: Operation, status: number): Body | null | undefined {
  const key = `${id} ${status}`;
  const remembered = bodies.get(key);
  if (remembered !== undefined) return remembered;
  const { paths, components } = document();
  const [verb, code] = [method.toLowerCase(), String(status)];
  const given = paths[path]?.[verb]?.responses[code];
  if (!given) return undefined;
  const name = given.$ref?.split('/').pop();
  const response = name === undefined ? given : components.responses[name];
  const place =
    name === undefined
      ? pointer('paths', path, verb, 'responses', code)
      : pointer('components', 'responses', name);
  const mediaTypes = Object.keys(response?.content ?? {});
  const fits = (type: string): ValidateFunction =>
    ajv.compile({ $ref: `document#${place}${pointer('content', type, 'schema')}` });
  const body =
    mediaTypes.length === 0
      ? null
      : new Map(mediaTypes.map((type) => [type, type.endsWith('json') ? fits(type) : null]));
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
  noteAnswer(operation, status);
  if (body === null) {
    if (text !== '') throw new Error(`${name} with a body: ${text.slice(0, 500)}`);
    return;
  }
  const [mediaType = ''] = type.split(';');
  const fits = body.get(mediaType);
  if (fits === undefined) throw new Error(`${name} with the type '${type}'`);
  // Each line of NDJSON is a document of its own.
  const parts = mediaType.endsWith('ndjson') ? text.trimEnd().split('\n') : [text];
  if (fits === null || parts.every((part) => fits(JSON.parse(part)))) return;
  const faults = (fits.errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    );
  throw new Error(`${name} against its schema: ${faults.join('; ')}\n${text.slice(0, 1000)}`);
}

/** Throws unless the example of an error response fits the schema that it has. */
export function checkFault(name: string, example: unknown): void {
  document();
  const place = pointer('components', 'responses', name, 'content', 'application/json', 'schema');
  const fits = ajv.compile({ $ref: `document#${place}` });
  if (!fits(example)) throw new Error(`${name}: ${ajv.errorsText(fits.errors)}`);
}

/** Makes a request of supertest fail its test when the answer is not as documented. */
export function checked(method: string, path: string, test: request.Test): request.Test {
  return test.expect((response) => {
    const type = String(response.headers['content-type'] ?? '');
    checkAnswer(method, path, { status: response.status, type, text: response.text ?? '' });
  });
}
