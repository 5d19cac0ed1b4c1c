import { expect } from 'chai';
import { knownWorkflows } from '../../src/flows/known-workflows.js';
import { workflowIdOf } from '../../src/schemas/flows/flow-id.js';

describe('the id of a workflow', () => {
  for (const known of knownWorkflows) {
    it(`is the same to webhooks as to who executes it: ${known.name}`, () => {
      expect(workflowIdOf(known.workflow)).to.equal(known.flowId);
    });
  }
});
