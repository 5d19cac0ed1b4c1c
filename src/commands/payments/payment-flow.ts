import type { Static } from 'typebox';
import { findReferences, resolveStart } from '../../queries/flows/resolve-start.js';
import type { FlowInput } from '../../messages/flow-run.js';
import type { PaymentFlowInput } from '../../messages/payment-flow.js';
import type { Scope } from '../../kernel/scope.js';
import { paymentFlows } from '../../schemas/flows/payment.js';
import { PaymentCreate, PaymentUpdate } from '../../schemas/payments/payment.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import type { PaymentDto } from '../../queries/payments/payment.js';
import { createByFlow, requireDraft, saveByFlow, type Drafted } from '../flows/save-by-flow.js';
import { createPayment, createPayments, saveAndSettle, updatePayment } from './payment.js';

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

/** Saves the new payments of a batch's step, as one after the other would be. */
export async function saveNewPayments(
  scope: Scope,
  starts: readonly FlowInput['start'][],
): Promise<PaymentDto[]> {
  await findReferences(scope, paymentFlows.savePayment, starts);
  const payments: Static<typeof PaymentCreate>[] = [];
  for (const start of starts) {
    const fields = await resolveStart(scope, paymentFlows.savePayment, start);
    payments.push(reviveInput(PaymentCreate, withType(fields)));
  }
  return saveAndSettle(scope, (inner) => createPayments(inner, payments));
}

/** Saves a payment: a new one where no id is given; one that was a draft is approved with it. */
export async function savePayment(scope: Scope, workflow: PaymentFlow, input: PaymentFlowInput) {
  const { id, fields, save, isOfDraft } = await readInput(scope, workflow, input);
  if (id === undefined) {
    const payment = reviveInput(PaymentCreate, withType(fields));
    const create = (inner: Scope) => createPayment(inner, payment);
    return saveOne(scope, (inner) => createByFlow(inner, save, create));
  }
  const payment = reviveInput(PaymentUpdate, fields);
  const approved = (inner: Scope, saved: { readonly id: string }) =>
    updatePayment(inner, saved.id, {}, 'Approved');
  const update = async (inner: Scope) => {
    if (isOfDraft) await requireDraft(inner, 'payment', id);
    return updatePayment(inner, id, payment);
  };
  return saveOne(scope, (inner) => saveByFlow(inner, save, update, approved));
}

async function saveOne(
  scope: Scope,
  save: (scope: Scope) => Promise<Drafted<PaymentDto>>,
): Promise<Drafted<PaymentDto>> {
  const [saved] = await saveAndSettle(scope, async (inner) => [await save(inner)]);
  if (saved === undefined) throw new Error('No payment was saved.');
  return saved;
}

/** The start node does not ask which way the money went: it came in. */
const withType = (fields: unknown): unknown => ({ paymentType: 'Pay In', ...(fields as object) });
