import type { Operations } from '../../schemas/index.js';
import { findFlow, knownFlows, presentFlowContract } from '../flow-contract.js';
import type { Handlers } from '../mount.js';

export const flowContractHandlers: Handlers<Operations['flowContract']> = {
  list: (_input, _scope, { config }) =>
    knownFlows.map((known) => presentFlowContract(known, config.publicUrl)),
  get: ({ params }, _scope, { config }) =>
    presentFlowContract(findFlow(params.flowId), config.publicUrl),
};
