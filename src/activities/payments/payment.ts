import { deletePayment } from '../../commands/payments/payment.js';
import { saveNewPayments, savePayment } from '../../commands/payments/payment-flow.js';
import type { PaymentFlowInput } from '../../messages/payment-flow.js';
import type { Platform } from '../../process/platform.js';
import { readPayment } from '../../queries/payments/payment.js';
import { deletedBy, slugStep } from '../flows/start-node.js';

export function paymentActivities(platform: Platform) {
  return {
    createPayment: slugStep(
      platform,
      'savePayment',
      (scope, input: PaymentFlowInput) => savePayment(scope, 'savePayment', input),
      (scope, inputs) =>
        saveNewPayments(
          scope,
          inputs.map(({ start }) => start),
        ),
    ),
    updatePayment: slugStep(platform, 'editPayment', (scope, input: PaymentFlowInput) =>
      savePayment(scope, 'editPayment', input),
    ),
    deletePayment: deletedBy(platform, 'deletePayment', readPayment, deletePayment),
  };
}
