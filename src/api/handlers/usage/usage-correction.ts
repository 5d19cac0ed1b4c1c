import {
  amendUsageEvent,
  cancelUsageEvent,
  dismissUsageEvents,
} from '../../../flows/usage/usage-correction.js';
import { listCorrectedCharges } from '../../../queries/usage/corrections/corrected-charge.js';
import { getCorrection, listCorrections } from '../../../queries/usage/corrections/correction.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const usageCorrectionHandlers: Handlers<Operations['usageCorrection']> = {
  cancel: ({ params, body, idempotencyKey }, scope, platform) =>
    cancelUsageEvent(scope, platform, { ...params, ...body }, idempotencyKey),
  amend: ({ params, body, idempotencyKey }, scope, platform) =>
    amendUsageEvent(scope, platform, { ...params, ...body }, idempotencyKey),
  dismiss: ({ body, idempotencyKey }, scope, platform) =>
    dismissUsageEvents(scope, platform, body, idempotencyKey),
  list: ({ query: { limit, offset, ...filter } }, scope) =>
    listCorrections(scope, filter, { limit, offset }),
  get: ({ params }, scope) => getCorrection(scope, params.correctionId),
  charges: ({ params, query: { explain: isExplained, eventId, ...page } }, scope, { archive }) =>
    listCorrectedCharges(scope, archive, { ...params, isExplained, eventId }, page),
};
