import type { Platform } from '../process/platform.js';
import { accountActivities } from './accounts/account.js';
import { approvalActivities } from './workflows/approval.js';
import { billingRunActivities } from './billing/billing-run.js';
import { clockActivities } from './sandbox/sandbox-clock.js';
import { contractActivities } from './contracts/contract.js';
import { creditNoteActivities } from './billing/credit-note.js';
import { flowBatchActivities } from './flows/flow-batch.js';
import type { CallOperation } from '../messages/definitions/task.js';
import { definitionActivities } from './workflows/definition.js';
import { listenerActivities } from './workflows/listener.js';
import { erasureActivities } from './ageing/erasure.js';
import { executionActivities } from './flows/execution.js';
import { invoicePdfActivities } from './billing/invoice-pdf.js';
import { paymentActivities } from './payments/payment.js';
import { repricingActivities } from './usage/repricing.js';
import { serviceActivities } from './catalog/service.js';
import { signingActivities } from './flows/sign-child.js';
import { tenantMoveActivities } from './cells/tenant-move.js';
import { undoActivities } from './workflows/undo.js';
import { usageCorrectionActivities } from './usage/usage-correction.js';
import { usageArchiveActivities } from './ageing/usage-archive.js';
import { usageDropActivities } from './ageing/usage-drop.js';
import { usageAuditActivities } from './usage/usage-audit.js';
import { usageActivities, type OnRated } from './usage/rate-usage.js';
import { webhookActivities, type OnDelivered } from './webhooks/webhook-delivery.js';

/** Every activity, on the connections of this process. */
export function createActivities(
  platform: Platform,
  {
    onRated,
    onDelivered,
    callOperation,
  }: {
    onRated: OnRated;
    onDelivered: OnDelivered;
    callOperation?: CallOperation | undefined;
  },
) {
  const steps = {
    ...accountActivities(platform),
    ...contractActivities(platform),
    ...serviceActivities(platform),
    ...paymentActivities(platform),
  };
  return {
    ...steps,
    ...flowBatchActivities(platform, Object.values(steps)),
    ...webhookActivities(platform, onDelivered),
    ...usageActivities(platform, onRated),
    ...executionActivities(platform),
    ...billingRunActivities(platform),
    ...invoicePdfActivities(platform),
    ...creditNoteActivities(platform),
    ...approvalActivities(platform),
    ...listenerActivities(platform),
    ...usageAuditActivities(platform),
    ...usageCorrectionActivities(platform),
    ...repricingActivities(platform),
    ...erasureActivities(platform),
    ...clockActivities(platform),
    ...usageArchiveActivities(platform),
    ...usageDropActivities(platform),
    ...signingActivities(platform),
    ...definitionActivities(platform, callOperation),
    ...undoActivities(platform),
    ...tenantMoveActivities(platform),
  };
}

export type Activities = ReturnType<typeof createActivities>;
