import { referenceData } from '../kernel/reference-data.js';
import { operations, type Operations } from './index.js';
import { isReadOnly, type Operation } from './operation.js';
import { SchemaTranslator, type JsonSchema } from './openapi-schema.js';
import { describeParam, recordOfParam } from './record-id.js';

/** An operation that MCP clients may call, and where its handler is. */
export interface Tool {
  readonly resource: keyof Operations;
  readonly key: string;
  readonly operation: Operation;
}

/** What is asked when a customer asks about a bill, in the order in which tools are listed. */
const readResources = [
  ...(['account', 'contract', 'contractService', 'service', 'rateCard', 'exceptionCard'] as const),
  ...(['pricingLogic', 'usageEvent', 'ratedTransaction', 'invoice', 'payment', 'wallet'] as const),
  ...(['referenceData', 'execution'] as const),
];

const toolsOf = (resource: keyof Operations): Tool[] =>
  Object.entries<Operation>(operations[resource]).map(([key, operation]) => ({
    ...{ resource, key, operation },
  }));

/** Files are for people: a model reads the record itself. Places of the log are for who sends to it. */
const isReading = ({ operation }: Tool): boolean =>
  isReadOnly(operation) && operation.success.kind !== 'file' && operation.id !== 'getUsageOutcomes';

/** Every tool: what these resources can be asked, and every flow (docs/decisions/0098). */
export const tools: readonly Tool[] = [
  ...readResources.flatMap((resource) => toolsOf(resource).filter(isReading)),
  ...toolsOf('flow'),
];

const toolByName = new Map(tools.map((tool) => [tool.operation.id, tool]));

export const findTool = (name: string): Tool | undefined => toolByName.get(name);

/** The parameters in the path of an operation. */
export const pathNames = ({ path }: Operation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

function pathSchema(name: string, { textParams = [] }: Operation): JsonSchema {
  const record = textParams.includes(name) ? undefined : recordOfParam(name);
  if (record) return { type: 'string', minLength: 1, description: describeParam(record) };
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return name.endsWith('Id') && !textParams.includes(name)
    ? { type: 'string', format: 'uuid', description: `Id of the ${words.slice(0, -3)}.` }
    : { type: 'string', minLength: 1, description: `The ${words}.` };
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
  const needed = (query.required ?? []).filter(
    (name) => !('default' in (query.properties[name] ?? {})),
  );
  const hasBody = operation.body !== undefined;
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(inPath.map((name) => [name, pathSchema(name, operation)])),
      ...query.properties,
      ...(operation.body ? { body: translator.translate(operation.body) } : {}),
      ...(operation.isIdempotent === true ? { idempotencyKey } : {}),
    },
    required: [...inPath, ...needed, ...(hasBody ? ['body'] : [])],
    additionalProperties: false,
  };
}

/** Flows that only add, or only confirm, destroy nothing that was there. */
const isAdditive = (path: string): boolean => /\/(?:create|clone|approve)$/.test(path);

/** A tool as MCP lists it. Hints are hints: what a caller may do is checked when it is done. */
export function describeTool({ operation }: Tool) {
  const { id, summary, description, path } = operation;
  const readOnlyHint = isReadOnly(operation);
  return {
    name: id,
    title: summary,
    description: description === undefined ? summary : `${summary}. ${description}`,
    inputSchema: inputSchema(operation) as JsonSchema & { readonly type: 'object' },
    annotations: {
      title: summary,
      readOnlyHint,
      destructiveHint: !readOnlyHint && !isAdditive(path),
      idempotentHint: readOnlyHint,
      openWorldHint: false,
    },
  };
}
