import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { Scope } from '../kernel/scope.js';
import { recordSecurityEvent } from './security-events.js';
import type { TokenKeys } from './tokens.js';

/** For which account a token is made, and for how long. */
export interface EmbedRequest {
  readonly accountId: string;
  readonly expiresInSeconds: number;
}

/** Makes a token that reads one account (docs/decisions/0384), and records that in the audit. */
export async function issueEmbed(
  scope: Scope,
  tokens: TokenKeys,
  { accountId, expiresInSeconds }: EmbedRequest,
) {
  const { tenantId, orgId, actor, requestId, callerRequestId } = scope;
  const id = randomUUID();
  const token = await tokens.issue({
    tenantId,
    orgId,
    roles: [],
    subject: actor,
    expiresInSeconds,
    id,
    accountId,
  });
  const expiresAt = new Date(Math.round(Number(decodeJwt(token).exp) * 1000)).toISOString();
  await (scope.home ?? scope.db).transaction((trx) =>
    recordSecurityEvent(trx, {
      tenantId,
      actor,
      requestId,
      callerRequestId,
      entity: 'accessToken',
      entityKey: id,
      action: 'create',
      details: { accountId, expiresAt },
    }),
  );
  return { token, tokenId: id, accountId, expiresAt };
}
