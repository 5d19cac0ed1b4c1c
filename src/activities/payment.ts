import { createPayment, deletePayment, updatePayment } from '../commands/payment.js';
import type { Platform } from '../platform/platform.js';
import { PaymentCreate, PaymentUpdate } from '../schemas/payment.js';
import { reviveInput } from '../schemas/validator.js';
import { flowStep } from './flow-step.js';

export function paymentActivities(platform: Platform) {
  return {
    createPayment: flowStep(platform, (scope, input: { readonly payment: unknown }) =>
      createPayment(scope, reviveInput(PaymentCreate, input.payment)),
    ),
    updatePayment: flowStep(
      platform,
      (scope, input: { readonly id: string; readonly payment: unknown }) =>
        updatePayment(scope, input.id, reviveInput(PaymentUpdate, input.payment)),
    ),
    deletePayment: flowStep(platform, (scope, input: { readonly id: string }) =>
      deletePayment(scope, input.id),
    ),
  };
}
