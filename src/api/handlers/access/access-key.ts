import { pageOfAccessKeys, type AccessKey } from '../../../access/access-keys.js';
import {
  makeTenantKey,
  revokeTenantKey,
  type MadeKey,
} from '../../../access/credentials/tenant-keys.js';
import { problem } from '../../../kernel/problem.js';
import { readDateOrInstant } from '../../../schemas/fields/date-or-instant.js';
import type { Operations } from '../../../schemas/index.js';
import type { Handlers } from '../../mount-operations.js';

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

const present = ({ id, name, roles, orgId, createdAt, expiresAt }: AccessKey | MadeKey) => ({
  id,
  name,
  roles: [...roles],
  orgId,
  createdAt: createdAt.toISOString(),
  expiresAt: iso(expiresAt),
});

const statusOf = (
  { revokedAt, expiresAt }: AccessKey,
  now: Date,
): 'revoked' | 'expired' | 'valid' => {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'valid';
};

/** The instant of a text, of which a leap second is one. */
function endOf(text: string): Date {
  const read = readDateOrInstant(text);
  if (read) return new Date(read.from);
  throw problem.validation("'expiresAt' must be an instant that exists", {
    field: 'expiresAt',
    value: text,
  });
}

export const accessKeyHandlers: Handlers<Operations['accessKey']> = {
  list: async ({ query: { limit, offset } }, { home, db, tenantId, realNow }) => {
    const page = { limit, offset };
    const { items, total } = await pageOfAccessKeys((home ?? db).read, tenantId, page);
    const data = items.map((key) => ({
      ...present(key),
      madeBy: key.madeBy,
      status: statusOf(key, realNow()),
      revokedAt: iso(key.revokedAt),
      usedAt: iso(key.usedAt),
    }));
    return { items: data, total };
  },
  create: async ({ body: { name, roles, orgId, expiresAt } }, scope) => {
    const made = await makeTenantKey(scope, {
      name,
      roles,
      orgId: orgId ?? null,
      expiresAt: expiresAt ? endOf(expiresAt) : null,
    });
    return { key: made.key, ...present(made), madeBy: scope.actor };
  },
  revoke: ({ params: { keyId } }, scope) => revokeTenantKey(scope, keyId),
};
