import { operations, type Operations } from '../index.js';
import { isReadOnly, type Operation } from '../http/operation.js';

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
/** Of these resources, but asked for by name, with what mends events and with workflows. */
const besidesRead = new Set(['countRejectedEvents', 'listExecutionDeliveries']);
const readTools = readingTools(readResources).filter(
  ({ operation }) => !besidesRead.has(operation.id),
);
const balanceTools = readingTools(balanceResources);
const correctionTools = [
  ...readingTools(correctionResources),
  ...toolsOf('usageEvent').filter(({ operation }) => besidesRead.has(operation.id)),
];
const repricingTools = readingTools(repricingResources);
const approvalTools = readingTools(approvalResources);
/** A tenant's own workflows from the first draft to its executions, which are read as all others. */
const ofWorkflows = new Set(['executeWorkflow', 'cancelExecution', 'listExecutionDeliveries']);
const workflowTools = [
  ...toolsOf('definition'),
  ...toolsOf('execution').filter(({ operation }) => ofWorkflows.has(operation.id)),
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
