import { resolveStart } from '../../queries/flows/resolve-start.js';
import type { PaymentFlowInput } from '../../messages/payment-flow.js';
import type { Scope } from '../../kernel/scope.js';
import { paymentFlows } from '../../schemas/flows/payment.js';
import { PaymentCreate, PaymentUpdate } from '../../schemas/payments/payment.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { createByFlow, requireDraft, saveByFlow } from '../flows/save-by-flow.js';
import { createPayment, saveAndSettle, updatePayment } from './payment.js';

type PaymentFlow = 'savePayment' | 'editPayment';

/** What is to be saved, and how. */
async function readInput(scope: Scope, workflow: PaymentFlow, input: PaymentFlowInput) {
  if ('payment' in input) {
    const save = { entity: 'payment', workflow, start: {}, isDraft: false } as const;
    return { id: input.id, fields: input.payment, save, isOfDraft: false };
  }
  const { start, isDraft, draftId } = input;
  const { id, ...fields } = await resolveStart(scope, paymentFlows[workflow], start);
  const save = { entity: 'payment', workflow, start, isDraft } as const;
  const isOfDraft = draftId !== undefined;
  return { id: (id as string | undefined) ?? draftId, fields, save, isOfDraft };
}

/** Saves a payment: a new one where no id is given; one that was a draft is approved with it. */
export async function savePayment(scope: Scope, workflow: PaymentFlow, input: PaymentFlowInput) {
  const { id, fields, save, isOfDraft } = await readInput(scope, workflow, input);
  if (id === undefined) {
    const payment = reviveInput(PaymentCreate, withType(fields));
    const create = (inner: Scope) => createPayment(inner, payment);
    return saveAndSettle(scope, (inner) => createByFlow(inner, save, create));
  }
  const payment = reviveInput(PaymentUpdate, fields);
  const approved = (inner: Scope, saved: { readonly id: string }) =>
    updatePayment(inner, saved.id, {}, 'Approved');
  const update = async (inner: Scope) => {
    if (isOfDraft) await requireDraft(inner, 'payment', id);
    return updatePayment(inner, id, payment);
  };
  return saveAndSettle(scope, (inner) => saveByFlow(inner, save, update, approved));
}

/** The start node does not ask which way the money went: it came in. */
const withType = (fields: unknown): unknown => ({ paymentType: 'Pay In', ...(fields as object) });
