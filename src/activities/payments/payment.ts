import {
  createPayment,
  deletePayment,
  tellSavedPayment,
  updatePayment,
} from '../../commands/payments/payment.js';
import { createByFlow, requireDraft, saveByFlow } from '../../commands/flows/save-by-flow.js';
import type { FlowInput } from '../../messages/flow-run.js';
import type { Scope } from '../../kernel/scope.js';
import type { Platform } from '../../process/platform.js';
import { resolveStart } from '../../queries/flows/resolve-start.js';
import { readPayment } from '../../queries/payments/payment.js';
import { paymentFlows } from '../../schemas/flows/payment.js';
import { PaymentCreate, PaymentUpdate } from '../../schemas/payments/payment.js';
import { reviveInput } from '../../schemas/fields/validator.js';
import { flowStep } from '../flows/flow-step.js';
import { deletedBy } from '../flows/start-node.js';

/** A payment as the resource API takes it (spec/resources.md R74), and which one to change. */
interface PaymentInput {
  readonly payment: unknown;
  readonly id?: string;
}

/** Payments are saved by both APIs: by a body of one, or by a start node of the other. */
export type PaymentFlowInput = PaymentInput | FlowInput;

type PaymentFlow = 'savePayment' | 'editPayment';

/** What is to be saved, and how. */
async function read(scope: Scope, workflow: PaymentFlow, input: PaymentFlowInput) {
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

export function paymentActivities(platform: Platform) {
  const save = (workflow: PaymentFlow) =>
    flowStep(platform, async (scope, input: PaymentFlowInput) => {
      const { id, fields, save, isOfDraft } = await read(scope, workflow, input);
      if (id === undefined) {
        const payment = reviveInput(PaymentCreate, withType(fields));
        const create = (inner: Scope) => createPayment(inner, payment);
        return tellSavedPayment(scope, (inner) => createByFlow(inner, save, create));
      }
      const payment = reviveInput(PaymentUpdate, fields);
      const approved = (inner: Scope, saved: { readonly id: string }) =>
        updatePayment(inner, saved.id, {}, 'Approved');
      const update = async (inner: Scope) => {
        if (isOfDraft) await requireDraft(inner, 'payment', id);
        return updatePayment(inner, id, payment);
      };
      return tellSavedPayment(scope, (inner) => saveByFlow(inner, save, update, approved));
    });
  return {
    createPayment: save('savePayment'),
    updatePayment: save('editPayment'),
    deletePayment: deletedBy(platform, 'deletePayment', readPayment, deletePayment),
  };
}

/** The start node does not ask which way the money went: it came in. */
const withType = (fields: unknown): unknown => ({ paymentType: 'Pay In', ...(fields as object) });
