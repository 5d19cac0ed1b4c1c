import { isUuid } from '../../../kernel/id.js';
import { problem } from '../../../kernel/problem.js';
import { findGrantTenant, listGrants, type ListedGrant } from '../../../access/oauth/grant-list.js';
import { revokeGrant } from '../../../access/oauth/grants.js';
import { recordSecurityEvent } from '../../../access/security-events.js';
import {
  listTokenRevocations,
  revokeTokenById,
  type TokenRevocation,
} from '../../../access/token-revocations.js';
import type { Scope } from '../../../kernel/scope.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

const trailOf = ({ tenantId, actor, requestId, callerRequestId }: Scope) => ({
  tenantId,
  actor,
  requestId,
  callerRequestId,
});

const homeOf = ({ home, db }: Scope) => home ?? db;

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

const presentGrant = (grant: ListedGrant) => {
  const { id, clientId, clientName, subject, accessKeyId, roles, scopes, revokedReason } = grant;
  return {
    id,
    clientId,
    clientName,
    subject,
    accessKeyId,
    issuer: grant.oidcIssuer,
    revokedReason,
    roles: [...roles],
    scopes: [...scopes],
    createdAt: grant.createdAt.toISOString(),
    expiresAt: grant.expiresAt.toISOString(),
    endsAt: iso(grant.endsAt),
    revokedAt: iso(grant.revokedAt),
  };
};

const presentRevocation = ({ jti, revokedAt, revokedBy }: TokenRevocation) => ({
  jti,
  revokedBy,
  revokedAt: revokedAt.toISOString(),
});

export const grantHandlers: Handlers<Operations['oauthGrant']> = {
  list: async ({ query: { limit, offset } }, scope) => {
    const { items, total } = await listGrants(homeOf(scope).read, scope.tenantId, {
      limit,
      offset,
    });
    return { items: items.map(presentGrant), total };
  },
  revoke: ({ params: { grantId } }, scope) =>
    homeOf(scope).transaction(async (trx) => {
      if ((await findGrantTenant(trx, grantId)) !== scope.tenantId) {
        throw problem.notFound(`There is no grant '${grantId}'.`);
      }
      if (!(await revokeGrant(trx, grantId, scope.realNow(), `by ${scope.actor}`))) return;
      await recordSecurityEvent(trx, {
        ...trailOf(scope),
        entity: 'oauthGrant',
        entityKey: grantId,
        action: 'revoke',
      });
    }),
};

export const tokenRevocationHandlers: Handlers<Operations['tokenRevocation']> = {
  list: async ({ query: { limit, offset } }, scope) => {
    const { items, total } = await listTokenRevocations(homeOf(scope).read, scope.tenantId, {
      limit,
      offset,
    });
    return { items: items.map(presentRevocation), total };
  },
  revoke: ({ params }, scope) =>
    homeOf(scope).transaction(async (trx) => {
      if (!isUuid(params.jti)) throw problem.notFound(`There is no token '${params.jti}'.`);
      const { tenantId, actor: revokedBy } = scope;
      const jti = params.jti.toLowerCase();
      const revoked = await revokeTokenById(trx, {
        tenantId,
        jti,
        revokedBy,
        revokedAt: scope.realNow(),
      });
      await recordSecurityEvent(trx, {
        ...trailOf(scope),
        entity: 'accessToken',
        entityKey: jti,
        action: 'revoke',
      });
      return presentRevocation(revoked);
    }),
};
