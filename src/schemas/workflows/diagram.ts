import { operation, reply } from '../http/operation.js';

/** spec/beyond.md R355. */
export const workflowDiagramOperations = {
  get: operation({
    id: 'getWorkflowDiagram',
    method: 'GET',
    path: '/v1/workflows/{workflowId}/diagram',
    tag: 'Workflows',
    family: 'records',
    isAddition: true,
    textParams: ['workflowId'],
    rateLimit: 'requests',
    // The largest takes a tenth of a second of the thread.
    weight: 'heavy',
    summary: 'Draw a workflow of your own',
    details:
      'SVG of the version that executions begin with: tasks in their order, branches beside each other. It tells its tasks in words, too, for those who do not see it. What is built in has no definition: 404.',
    success: reply.file('image/svg+xml'),
    errors: [404],
  }),
};
