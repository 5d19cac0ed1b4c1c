import { findDefinition, missingWorkflow } from '../../../queries/workflows/definition.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';
import { drawWorkflow } from '../../presenters/diagram/workflow-diagram.js';

export const workflowDiagramHandlers: Handlers<Operations['workflowDiagram']> = {
  get: async ({ params }, scope) => {
    const found = await findDefinition(scope, params.workflowId);
    if (!found) throw missingWorkflow(params.workflowId);
    const bytes = Buffer.from(drawWorkflow(found.definition));
    return { fileName: `${found.name}-${found.version}.svg`, bytes };
  },
};
