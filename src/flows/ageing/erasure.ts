import type { ErasureData } from '../../schemas/ageing/erasure.js';
import type { FlowStart } from '../run-flow.js';

/** An erasure to start; one of an account at a time. */
export const erasure = (
  { accountId }: ErasureData,
  idempotencyKey: string | null,
): FlowStart<'erasePerson'> => ({
  workflow: 'erasePerson',
  input: { accountId },
  businessKey: () => `erasure/${accountId}`,
  entityType: 'account',
  entityId: accountId,
  idempotencyKey,
  isLong: true,
  summary: 'erase a person',
});
