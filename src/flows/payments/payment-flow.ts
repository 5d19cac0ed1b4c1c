import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import type { PaymentDto } from '../../queries/payments/payment.js';
import type { PaymentCreate, PaymentUpdate } from '../../schemas/payments/payment.js';
import { runFlow } from '../run-flow.js';

/**
 * Saves a payment. Requests for one reference share a workflow id: while one runs, a second is
 * refused.
 */
export async function savePayment(
  scope: Scope,
  platform: Platform,
  payment: Static<typeof PaymentCreate>,
  idempotencyKey: string | null,
): Promise<PaymentDto> {
  const { paymentReference } = payment;
  const { output } = await runFlow(scope, platform, {
    workflow: 'savePayment',
    input: { payment },
    idempotencyKey,
    businessKey: () => `payment/${paymentReference}`,
    entityType: 'payment',
    entityId: paymentReference,
    summary: `save payment ${paymentReference}`,
  });
  return output;
}

/** Changes a payment; concurrent changes are serialized by the row lock. */
export async function editPayment(
  scope: Scope,
  platform: Platform,
  id: string,
  payment: Static<typeof PaymentUpdate>,
): Promise<PaymentDto> {
  const { output } = await runFlow(scope, platform, {
    workflow: 'editPayment',
    input: { id, payment },
    idempotencyKey: null,
    businessKey: (executionId) => `payment/${id}/edit/${executionId}`,
    entityType: 'payment',
    entityId: id,
    summary: `change payment ${id}`,
  });
  return output;
}

/** Deletes a payment. */
export async function deletePayment(scope: Scope, platform: Platform, id: string): Promise<void> {
  await runFlow(scope, platform, {
    workflow: 'deletePayment',
    input: { start: { id }, isDraft: false },
    idempotencyKey: null,
    businessKey: (executionId) => `payment/${id}/delete/${executionId}`,
    entityType: 'payment',
    entityId: id,
    summary: `delete payment ${id}`,
  });
}
