import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { newAccessKey, type AccessKeyRequest } from '../access-keys.js';
import { consoleClientId } from '../oauth/console-client.js';
import { findGrant } from '../oauth/grants.js';

/** As many valid keys as a tenant may make: each is looked up, listed and watched. */
const keysMax = 100;

/** The platform's own tables, where they are in another server than the tenant's rows. */
const homeOf = ({ home, db }: Scope) => home ?? db;

/**
 * When what a key is made with ends: a key must not outlive it. A person whom a provider let in has no
 * end, only a session. 403: an OAuth client would keep with a key what a user can take back from it.
 */
async function endOfMaker(scope: Scope): Promise<Date | null> {
  const grantId = scope.credential?.grantId ?? null;
  if (grantId === null) return scope.credentialEndsAt ?? null;
  const grant = await findGrant(homeOf(scope).read, grantId);
  if (grant?.clientId !== consoleClientId) {
    throw problem.forbidden(
      'What a user allowed an OAuth client makes no access keys: they are made in the console, or with a key or token.',
    );
  }
  return grant.oidcIssuer === null ? grant.endsAt : null;
}

const timeText = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** When a key ends. 400: before it begins. 403: after what it is made with. */
function endOf(asked: Date | null, endsAt: Date | null, now: Date): Date | null {
  if (asked === null) return endsAt;
  if (asked <= now) {
    const value = asked.toISOString();
    throw problem.validation(`'expiresAt' must be in the future: ${value}`, {
      field: 'expiresAt',
      value,
    });
  }
  if (endsAt === null || asked <= endsAt) return asked;
  throw problem.forbidden(
    `What this key is made with ends at ${timeText(endsAt)}: it can end no later. An access key that ends later, or never, can make it.`,
    { field: 'expiresAt' },
  );
}

/** The organization of a key. 403: another one than that of what it is made with. */
function orgOf(asked: string | null, { orgId }: Scope): string | null {
  if (orgId === null || asked === null || asked === orgId) return orgId ?? asked;
  throw problem.forbidden(`What this key is made with is of the organization '${orgId}'.`, {
    field: 'orgId',
  });
}

/** What a tenant asks for. */
export type TenantKey = Omit<AccessKeyRequest, 'tenantId'> & {
  readonly name: string;
  readonly expiresAt: Date | null;
};

export interface MadeKey extends TenantKey {
  readonly id: string;
  /** The only time that it can be read. */
  readonly key: string;
  readonly createdAt: Date;
}

/** Makes a key that may do no more than what it is made with, and records that in the audit. */
export async function makeTenantKey(scope: Scope, asked: TenantKey): Promise<MadeKey> {
  const createdAt = scope.realNow();
  const made = {
    name: asked.name,
    roles: [...new Set(asked.roles)],
    orgId: orgOf(asked.orgId, scope),
    expiresAt: endOf(asked.expiresAt, await endOfMaker(scope), createdAt),
  };
  const { id, key, secretHash } = newAccessKey();
  const isMade = await homeOf(scope).transaction((trx) =>
    ask(
      trx,
      'make_access_key(:id, :name, :orgId, :roles, :secretHash, :expiresAt, :createdAt, :actor, :requestId, :callerRequestId, :keysMax)',
      { ...made, ...trailOf(scope), id, secretHash, createdAt, keysMax },
    ),
  );
  if (!isMade) {
    throw problem.conflict(`There are ${keysMax} valid access keys already: revoke one first.`);
  }
  return { ...made, id, key, createdAt };
}

/** Revokes a key; one that was revoked before stays as it is. 404: the tenant has none of this id. */
export async function revokeTenantKey(scope: Scope, id: string): Promise<void> {
  const isThere = await homeOf(scope).transaction((trx) =>
    ask(trx, 'revoke_access_key(:id, :actor, :requestId, :callerRequestId)', {
      ...trailOf(scope),
      id,
    }),
  );
  if (!isThere) throw problem.notFound(`There is no access key '${id}'.`);
}

const trailOf = ({ actor, requestId, callerRequestId }: Scope) => ({
  actor,
  requestId,
  callerRequestId: callerRequestId ?? null,
});

/** What a function of the database answers: running processes write no keys but by these. */
async function ask(
  trx: Knex.Transaction,
  call: string,
  values: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const { rows } = await trx.raw<{ rows: { is: boolean }[] }>(`select ${call} as is`, values);
  return rows[0]?.is === true;
}
