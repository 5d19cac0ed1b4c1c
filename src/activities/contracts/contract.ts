import { approveContract } from '../../commands/flows/approve-record.js';
import {
  createContract,
  deleteContract,
  updateContract,
} from '../../commands/contracts/contract.js';
import { createOrComplete, saveByFlow } from '../../commands/flows/save-by-flow.js';
import type { Platform } from '../../process/platform.js';
import { getContract } from '../../queries/contracts/contract.js';
import { ContractCreate, ContractUpdate } from '../../schemas/contracts/contract.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { actOn, deletedBy, startStep } from '../flows/start-node.js';

export function contractActivities(platform: Platform) {
  return {
    createContract: startStep(platform, 'createContract', (scope, { resolved, save, draftId }) =>
      createOrComplete(
        scope,
        save,
        { id: draftId, fields: resolved },
        {
          forCreate: ContractCreate,
          forUpdate: ContractUpdate,
          create: createContract,
          update: updateContract,
        },
      ),
    ),
    editContract: startStep(platform, 'editContract', (scope, { resolved, save }) => {
      const { id, ...fields } = resolved;
      const input = reviveInput(ContractUpdate, fields);
      return saveByFlow(scope, save, (inner) => updateContract(inner, String(id), input));
    }),
    deleteContract: deletedBy(platform, 'deleteContract', getContract, deleteContract),
    approveContract: actOn(platform, 'approveContract', getContract, approveContract),
  };
}
