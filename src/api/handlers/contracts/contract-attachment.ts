import {
  attachService,
  updateAttachment,
} from '../../../commands/contracts/contract-attachment.js';
import { deleteContractService } from '../../../commands/contracts/contract-service.js';
import { listAttachments } from '../../../queries/contracts/contract-attachment.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const contractAttachmentHandlers: Handlers<Operations['contractAttachment']> = {
  attach: ({ body }, scope) => attachService(scope, body),
  update: ({ params, body }, scope) => updateAttachment(scope, params, body),
  detach: ({ params }, scope) => deleteContractService(scope, params),
  list: ({ params }, scope) => listAttachments(scope, params.contractId),
};
