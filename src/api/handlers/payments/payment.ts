import { getPayment, listPayments } from '../../../queries/payments/payment.js';
import type { Operations } from '../../../schemas/index.js';
import { pageRequest } from '../../../schemas/http/paging.js';
import type { Handlers } from '../../mount-operations.js';
import { deletePayment, editPayment, savePayment } from '../../../flows/payments/payment-flow.js';

export const paymentHandlers: Handlers<Operations['payment']> = {
  list: ({ query: { q, accountId, ...page } }, scope) =>
    listPayments(scope, pageRequest(page), q, accountId === undefined ? {} : { accountId }),
  get: ({ params }, scope) => getPayment(scope, params.paymentId),
  create: ({ body, idempotencyKey }, scope, platform) =>
    savePayment(scope, platform, body, idempotencyKey),
  update: ({ params, body }, scope, platform) =>
    editPayment(scope, platform, params.paymentId, body),
  delete: ({ params }, scope, platform) => deletePayment(scope, platform, params.paymentId),
};
