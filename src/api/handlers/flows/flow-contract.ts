import type { Operations } from '../../../schemas/index.js';
import { findFlow, knownFlows } from '../../../flows/known-workflows.js';
import { presentFlowContract } from '../../presenters/flow-contract.js';
import type { Handlers } from '../../mount-operations.js';

export const flowContractHandlers: Handlers<Operations['flowContract']> = {
  list: (_input, _scope, { config }) =>
    knownFlows.map((known) => presentFlowContract(known, config.publicUrl)),
  get: ({ params }, _scope, { config }) =>
    presentFlowContract(findFlow(params.flowId), config.publicUrl),
};
