import { decideApproval } from '../../../flows/workflows/decide-approval.js';
import { getApprovalWhole, listApprovals } from '../../../queries/workflows/approval.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const approvalHandlers: Handlers<Operations['approval']> = {
  list: ({ query }, scope) => listApprovals(scope, query),
  get: ({ params }, scope) => getApprovalWhole(scope, params.approvalId),
  decide: ({ params, body, idempotencyKey }, scope, platform) =>
    decideApproval(scope, platform, { ...body, ...params }, idempotencyKey),
};
