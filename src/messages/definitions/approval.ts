export type Decision = 'approve' | 'reject';

/** A decision of who asks for it, with the roles that they have at this moment. */
export interface AskedDecision {
  readonly approvalId: string;
  readonly decision: Decision;
  readonly reason: string | null;
  readonly roles: readonly string[];
}
