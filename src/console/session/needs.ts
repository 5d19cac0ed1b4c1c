/**
 * What pages offer to do that not everybody may who reads, and the lowest role for it, as the API's
 * document says (test/unit/console-needs.test.ts). It only spares people a refusal: the API decides.
 */
export const needs = {
  createAccessKey: 'ADMIN',
  revokeAccessKey: 'ADMIN',
  revokeOauthGrant: 'ADMIN',
  createEmbed: 'ADMIN',
  createCreditNote: 'OPERATOR',
  voidInvoice: 'OPERATOR',
  retryUsageEvent: 'OPERATOR',
  retryUsageEvents: 'OPERATOR',
  dismissUsageEvents: 'OPERATOR',
  cancelUsageEvent: 'OPERATOR',
  amendUsageEvent: 'OPERATOR',
  executeWorkflow: 'OPERATOR',
  cancelExecution: 'OPERATOR',
  createWorkflow: 'ADMIN',
  updateWorkflow: 'ADMIN',
  decideApproval: 'OPERATOR',
  promoteRepricing: 'ADMIN',
  setSchedule: 'ADMIN',
  deleteSchedule: 'ADMIN',
  updateWebhook: 'ADMIN',
  redeliverWebhook: 'ADMIN',
  recoverWebhook: 'ADMIN',
  testWebhook: 'ADMIN',
} as const satisfies Readonly<Record<string, 'OPERATOR' | 'ADMIN'>>;

/** What a button does; null: nothing is written, or who is shown it may do it. */
export type Written = keyof typeof needs | null;

/** Why somebody may not do this; undefined: they may. */
export function reasonAgainst(
  operation: Written,
  { roles, scopes }: { readonly roles: readonly string[]; readonly scopes: readonly string[] },
): string | undefined {
  if (operation === null) return undefined;
  const enough = needs[operation] === 'ADMIN' ? ['ADMIN'] : ['OPERATOR', 'ADMIN'];
  if (!enough.some((role) => roles.includes(role))) {
    return `needs the role ${enough.join(' or ')}`;
  }
  return scopes.includes('mcp:write') ? undefined : 'you are signed in to look only';
}
