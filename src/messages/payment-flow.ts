import type { FlowInput } from './flow-run.js';

/** A payment as the resource API takes it (spec/resources.md R74), and which one to change. */
interface PaymentInput {
  readonly payment: unknown;
  readonly id?: string;
}

/** Payments are saved by both APIs: by a body of one, or by a start node of the other. */
export type PaymentFlowInput = PaymentInput | FlowInput;
