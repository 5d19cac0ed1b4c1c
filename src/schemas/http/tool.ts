import type { TSchema } from 'typebox';
import { referenceData } from '../../kernel/reference-data.js';
import { operations, type Operations } from '../index.js';
import { isReadOnly, takesIdempotencyKey, type Operation } from './operation.js';
import { SchemaTranslator, type JsonSchema } from './openapi-schema.js';
import { SimulatedUsage } from '../usage/usage-message.js';
import { describeKey, recordOfParam } from './record-id.js';

/** An operation that MCP clients may call, and where its handler is. */
export interface Tool {
  readonly resource: keyof Operations;
  readonly key: string;
  readonly operation: Operation;
}

/** Resources for questions about a bill, in the order in which tools are listed. */
const readResources = [
  'account',
  'contract',
  'contractService',
  'service',
  'rateCard',
  'exceptionCard',
  'pricingLogic',
  'usageEvent',
  'usageTotal',
  'ratedTransaction',
  'invoice',
  'nextInvoice',
  'payment',
  'referenceData',
  'execution',
] as const;

/** What is asked for by name, so that the list that is shown first stays short. */
const balanceResources = [
  'wallet',
  'walletGrant',
  'hold',
  'alert',
  'journal',
  'adjustment',
] as const;
const correctionResources = ['usageCorrection'] as const;
const repricingResources = ['repricing'] as const;
const approvalResources = ['approval'] as const;
const allResources = [
  ...readResources,
  ...balanceResources,
  ...correctionResources,
  ...repricingResources,
  ...approvalResources,
];

const toolsOf = (resource: keyof Operations): Tool[] =>
  Object.entries<Operation>(operations[resource]).map(([key, operation]) => ({
    resource,
    key,
    operation,
  }));

/**
 * No files, since a model reads the record itself, no offsets of the log, which only senders of usage
 * need, and nothing twice: accounts are read by their external id by `getAccount`, too, and credit notes
 * are listed with the invoices of an account.
 */
const notOffered = new Set(['getUsageOutcomes', 'getAccountByExternalId', 'listCreditNotes']);
const isReading = ({ operation }: Tool): boolean =>
  isReadOnly(operation) && operation.success.kind !== 'file' && !notOffered.has(operation.id);

const readingTools = (resources: readonly (keyof Operations)[]): Tool[] =>
  resources.flatMap((resource) => toolsOf(resource).filter(isReading));
const readTools = readingTools(readResources);
const balanceTools = readingTools(balanceResources);
const correctionTools = readingTools(correctionResources);
const repricingTools = readingTools(repricingResources);
const approvalTools = readingTools(approvalResources);
/** A tenant's own workflows from the first draft to its executions, which are read as all others. */
const workflowWrites = new Set(['executeWorkflow', 'cancelExecution']);
const workflowTools = [
  ...toolsOf('definition'),
  ...toolsOf('execution').filter(({ operation }) => workflowWrites.has(operation.id)),
];
const runTools = toolsOf('flow');

/** What mends prices and invoices beside the flows. */
const changes: readonly string[] = [
  'createRateCardVersion',
  'createExceptionCardVersion',
  'createCreditNote',
  'createWalletGrant',
  'revokeWalletGrant',
  'createHold',
  'commitHold',
  'releaseHold',
  'createAlert',
  'cancelUsageEvent',
  'amendUsageEvent',
  'promoteRepricing',
  'decideApproval',
];
const changeTools = allResources
  .flatMap((resource) => toolsOf(resource))
  .filter(({ operation }) => changes.includes(operation.id));

/**
 * Every tool: what these resources can be asked, every flow, and what mends prices and invoices
 * (docs/decisions/0098, 0375).
 */
export const tools: readonly Tool[] = [
  ...readTools,
  ...balanceTools,
  ...correctionTools,
  ...repricingTools,
  ...approvalTools,
  ...workflowTools,
  ...runTools,
  ...changeTools,
];

/** Tools by the name under which `/mcp?tools=` chooses them. */
const toolSets = {
  read: readTools,
  run: runTools,
  change: changeTools,
  balances: balanceTools,
  corrections: correctionTools,
  whatif: repricingTools,
  approvals: approvalTools,
  workflows: [...readTools.filter(({ resource }) => resource === 'execution'), ...workflowTools],
  all: tools,
} as const;

export const toolSetNames = Object.keys(toolSets);

/** The tools of these sets, without duplicates; undefined: one of the names is unknown. */
export function toolsOfSets(names: readonly string[]): readonly Tool[] | undefined {
  const chosen = names.map((name) =>
    Object.hasOwn(toolSets, name) ? toolSets[name as keyof typeof toolSets] : undefined,
  );
  if (chosen.includes(undefined)) return undefined;
  const listed = new Set(chosen.flatMap((set) => set ?? []));
  return tools.filter((tool) => listed.has(tool));
}

/** What is listed where the address chooses nothing. */
export const defaultTools: readonly Tool[] = toolSets.read;

const toolByName = new Map(tools.map((tool) => [tool.operation.id, tool]));

export const findTool = (name: string): Tool | undefined => toolByName.get(name);

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
  return { type: 'integer', ...('default' in schema ? { default: schema['default'] } : {}) };
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
