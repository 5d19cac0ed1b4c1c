import { applyPayment } from '../../../commands/payments/settle-payment.js';
import { readAppliedPayment } from '../../../queries/payments/payment-application.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

export const paymentApplicationHandlers: Handlers<Operations['paymentApplication']> = {
  list: ({ params }, { db, tenantId }) => readAppliedPayment(db.read, tenantId, params.paymentId),
  apply: ({ params, body }, scope) => applyPayment(scope, params.paymentId, body),
};
