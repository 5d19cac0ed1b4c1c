import {
  checkDefinition,
  createDefinition,
  deleteSecret,
  putSecret,
  updateDefinition,
} from '../../../commands/workflows/definition.js';
import { deleteDefinition } from '../../../flows/workflows/delete-definition.js';
import { simulateDefinition } from '../../../flows/workflows/simulate-definition.js';
import { listTasks } from '../../../queries/workflows/execution-tasks.js';
import { listSecrets } from '../../../queries/workflows/definition.js';
import { definitionSchema } from '../../../schemas/workflows/definition.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const definitionHandlers: Handlers<Operations['definition']> = {
  schema: () => ({ ...definitionSchema }),
  validate: ({ body }, scope) => checkDefinition(scope, body.definition),
  create: ({ body }, scope) => createDefinition(scope, body.definition),
  update: ({ params, body }, scope) => updateDefinition(scope, params.workflowId, body),
  simulate: ({ params, body }, scope) => simulateDefinition(scope, params.workflowId, body),
  timeline: ({ params, query }, scope) =>
    listTasks(scope, params.workflowId, params.executionId, query),
  delete: ({ params, query }, scope, platform) =>
    deleteDefinition(scope, platform, params.workflowId, query.force),
};

export const secretHandlers: Handlers<Operations['secret']> = {
  list: ({ query }, scope) => listSecrets(scope, query),
  put: ({ params, body }, scope, { secrets }) =>
    putSecret(scope, params.name, body.value, (secret) => secrets.seal(secret)),
  delete: ({ params }, scope) => deleteSecret(scope, params.name),
};
