import { getExecution, listExecutions } from '../../../queries/flows/execution.js';
import type { Operations } from '../../../schemas/index.js';
import { executeFlow, executionView } from '../../../flows/execute-flow.js';
import { cancelExecution } from '../../../flows/cancel-execution.js';
import {
  findExecutable,
  findExecuted,
  findWorkflow,
  knownWorkflows,
} from '../../../flows/known-workflows.js';
import {
  findConditionFault,
  findDefinition,
  listDefinitions,
  listVersions,
} from '../../../queries/workflows/definition.js';
import { listExecutionDeliveries } from '../../../queries/webhooks/webhook.js';
import {
  presentDefinitionWhole,
  presentListedWorkflow,
  presentWorkflow,
} from '../../presenters/flow-contract.js';
import type { Handlers } from '../../mount-operations.js';

export const executionHandlers: Handlers<Operations['execution']> = {
  listWorkflows: async ({ query: { limit, offset } }, scope) => {
    const builtIn = knownWorkflows.slice(offset, offset + limit).map(presentWorkflow);
    const own = await listDefinitions(scope, {
      limit: limit - builtIn.length,
      offset: Math.max(0, offset - knownWorkflows.length),
    });
    return {
      items: [...builtIn, ...own.items.map(presentListedWorkflow)],
      total: knownWorkflows.length + own.total,
      isCut: own.isCut ?? false,
    };
  },
  getWorkflow: async ({ params, query }, scope) => {
    const own = await findDefinition(scope, params.workflowId, query.version);
    if (!own) return presentWorkflow(findWorkflow(params.workflowId));
    const versions = await listVersions(scope, own.id);
    return presentDefinitionWhole(own, versions, await findConditionFault(scope, own.id));
  },
  execute: async ({ params, body, idempotencyKey }, scope, platform) => {
    const known = await findExecutable(scope, params.workflowId);
    return executeFlow(scope, platform, known, body, idempotencyKey);
  },
  list: async ({ params, query: { limit, offset, status } }, scope, platform) => {
    const known = await findExecuted(scope, params.workflowId);
    const view = executionView(known, platform);
    const listed = await listExecutions(scope, known.workflow, status, { limit, offset });
    return { ...listed, items: listed.items.map(view) };
  },
  get: async ({ params }, scope, platform) => {
    const known = await findExecuted(scope, params.workflowId, params.executionId);
    const record = await getExecution(scope, known.workflow, params.executionId);
    return executionView(known, platform)(record);
  },
  deliveries: async ({ params, query }, scope) => {
    const { workflow } = await findExecuted(scope, params.workflowId, params.executionId);
    const record = await getExecution(scope, workflow, params.executionId);
    return listExecutionDeliveries(scope, record, query);
  },
  cancel: async ({ params }, scope, platform) => {
    const known = await findExecuted(scope, params.workflowId, params.executionId);
    return cancelExecution(scope, platform, known, params.executionId);
  },
};
