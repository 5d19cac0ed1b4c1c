import { previewRepricing } from '../../../commands/usage/repricing/preview-repricing.js';
import { promoteRepricing } from '../../../flows/usage/repricing.js';
import { listRepricedCharges } from '../../../queries/usage/repricing/repriced-charge.js';
import {
  getRepricing,
  listRepricedAccounts,
  listRepricings,
} from '../../../queries/usage/repricing/repricing.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const repricingHandlers: Handlers<Operations['repricing']> = {
  list: ({ query }, scope) => listRepricings(scope, query),
  get: ({ params }, scope) => getRepricing(scope, params.repricingId),
  accounts: ({ params, query }, scope) =>
    listRepricedAccounts(scope, params.repricingId, query.sort, query),
  charges: ({ params, query }, scope) => listRepricedCharges(scope, params, query),
  preview: ({ body }, scope) => previewRepricing(scope, body),
  promote: ({ params, body, idempotencyKey }, scope, platform) =>
    promoteRepricing(scope, platform, { ...params, ...body }, idempotencyKey),
};
