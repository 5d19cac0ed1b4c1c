import type { TSchema } from 'typebox';
import { referenceData } from '../../kernel/reference-data.js';
import { SchemaTranslator, type JsonSchema } from '../openapi/openapi-schema.js';
import { isReadOnly, type Operation } from '../http/operation.js';
import { takesIdempotencyKey } from '../http/idempotency-key.js';
import { describeKey, recordOfParam } from '../http/record-id.js';
import { SimulatedUsage } from '../usage/usage-message.js';
import type { Tool } from './tool-sets.js';

/** Tokens that an answer has where a call says nothing else, and the most that it may ask for. */
export const answerTokens = { default: 4_000, minimum: 200, maximum: 200_000 } as const;

/** What a call means that leaves an argument out, where HTTP means another thing. */
export const toolDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  explainInvoice: { summaryOnly: true },
};

/** An array alone: a model that has one form to choose from chooses none wrong. */
const toolBodies: Readonly<Record<string, TSchema>> = { simulateUsage: SimulatedUsage };

/** The parameters in the path of an operation. */
export const pathNames = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** The parameters of the query that a tool has: answers are never rows with an envelope. */
export const queryNames = ({ query }: Operation): string[] =>
  Object.keys(query?.properties ?? {}).filter((name) => name !== 'view');

/** The name says what it is the id of. */
function pathSchema(name: string, { textParams = [] }: Operation): JsonSchema {
  const record = textParams.includes(name) ? undefined : recordOfParam(name);
  if (record) return { type: 'string', description: describeKey(record) };
  return name.endsWith('Id') && !textParams.includes(name)
    ? { type: 'string', format: 'uuid' }
    : { type: 'string' };
}

/** What every list has, explained once by the instructions of the server. */
const paging = new Set(['page', 'size', 'limit', 'offset']);

/** Limits of texts: who breaks one is told so, and nobody else has to read it in every conversation. */
const unsaid = new Set(['minLength', 'maxLength', 'pattern']);

/** A parameter in as few words as say it. */
function shortened(name: string, schema: JsonSchema): JsonSchema {
  if (!paging.has(name)) {
    return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !unsaid.has(keyword)));
  }
  // That a list begins with its first page goes without saying.
  return { type: 'integer', ...(schema['default'] ? { default: schema['default'] } : {}) };
}

const idempotencyKey: JsonSchema = {
  type: 'string',
  pattern: '^[!-~]{1,255}$',
  description: 'A key of your own: sent again with the same input, the call has one effect.',
};

/** What a tool is called with: parameters of path and query by name, and the body as `body`. */
function inputSchema(operation: Operation): JsonSchema {
  // Without names of components, every schema is written out where it is used.
  const translator = new SchemaTranslator([], (name) => referenceData.picklistValueNames(name));
  const inPath = pathNames(operation);
  const query = operation.query
    ? (translator.translate(operation.query) as {
        readonly properties: Record<string, JsonSchema>;
        readonly required?: readonly string[];
      })
    : { properties: {} };
  const body = toolBodies[operation.id] ?? operation.body;
  const defaults = toolDefaults[operation.id] ?? {};
  const inQuery = queryNames(operation).map((name): [string, JsonSchema] => {
    const schema = query.properties[name] ?? {};
    return [
      name,
      name in defaults ? { ...schema, default: defaults[name] } : shortened(name, schema),
    ];
  });
  const needed = (query.required ?? []).filter(
    (name) => !('default' in (query.properties[name] ?? {})),
  );
  const required = [...inPath, ...needed, ...(body === undefined ? [] : ['body'])];
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(inPath.map((name) => [name, pathSchema(name, operation)])),
      ...Object.fromEntries(inQuery),
      ...(body ? { body: translator.translate(body) } : {}),
      ...(takesIdempotencyKey(operation) ? { idempotencyKey } : {}),
      maxTokens: { type: 'integer' },
    },
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** What only adds, or only confirms, destroys nothing that was there. */
const isAdditive = (path: string): boolean =>
  /\/(?:create|clone|approve|versions|credit-notes)$/.test(path);

/** A tool as MCP lists it. Hints are hints: what a caller may do is checked when it is done. */
export function describeTool({ operation }: Tool) {
  const { id, summary, description, path } = operation;
  return {
    name: id,
    description: description === undefined ? summary : `${summary}. ${description}`,
    inputSchema: inputSchema(operation) as JsonSchema & { readonly type: 'object' },
    // What is destructive means nothing of a tool that only reads.
    annotations: isReadOnly(operation)
      ? { readOnlyHint: true, openWorldHint: false }
      : { destructiveHint: !isAdditive(path), openWorldHint: false },
  };
}
