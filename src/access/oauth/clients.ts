import { createHmac } from 'node:crypto';
import type { Knex } from 'knex';
import { problem } from '../../kernel/problem.js';
import type { SecurityEvent } from '../../kernel/security-event.js';
import { recordSecurityEvent } from '../security-events.js';

/** A client that registered itself (RFC 7591). */
export interface OauthClient {
  readonly id: string;
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  /** Whether it gets refresh tokens (docs/decisions/0096). */
  readonly mayRefresh: boolean;
  /** What it may ask for; null is everything. */
  readonly scopes: readonly string[] | null;
  readonly createdAt: Date;
  /** When a user allowed it something; null or left out: none has. */
  readonly usedAt?: Date | null;
}

/** Registrations that one address may make in one window, since anybody may register. */
const registrationsMax = 200;
const windowSeconds = 600;

/** Who registers, so that it can be counted: no address is stored. */
export const addressMark = (address: string, secret: Buffer): Buffer =>
  createHmac('sha256', secret).update(`registration ${address}`).digest();

/** By which the audit knows the request that registered it. */
type RegisteringRequest = Pick<SecurityEvent, 'requestId' | 'callerRequestId'>;

/** Stores a client, and in the audit that it was registered: in that of no tenant, since nobody is known. 429: this address has registered too many in the last ten minutes. */
export async function insertOauthClient(
  db: Knex,
  client: OauthClient,
  registeredFrom: Buffer,
  { requestId, callerRequestId }: RegisteringRequest,
): Promise<void> {
  const since = new Date(client.createdAt.getTime() - windowSeconds * 1000);
  await db.transaction(async (trx) => {
    // Registrations of one address follow each other, so that each sees those before it.
    await trx.raw('select pg_advisory_xact_lock(?)', [registeredFrom.readInt32BE(0)]);
    const { count = 0 } =
      (await trx('oauthClient')
        .where({ registeredFrom })
        .where('createdAt', '>', since)
        .count({ count: '*' })
        .first<{ count: string }>()) ?? {};
    if (Number(count) >= registrationsMax) {
      throw problem.rateLimited('Too many clients were registered from your address; wait.', {
        retryAfterSeconds: windowSeconds,
      });
    }
    await trx('oauthClient').insert({ ...client, registeredFrom });
    const [first = ''] = client.redirectUris;
    await recordSecurityEvent(trx, {
      tenantId: null,
      actor: null,
      entity: 'oauthClient',
      entityKey: client.id,
      action: 'create',
      requestId,
      callerRequestId,
      // Short: anybody may register, and the audit is kept for ever.
      details: { name: client.name, redirectUri: first.slice(0, 200) },
    });
  });
}

/** The client of an id; undefined when there is none, or the id is no UUID. */
export const findOauthClient = (db: Knex, id: string): Promise<OauthClient | undefined> =>
  db<OauthClient>('oauthClient').where({ id }).first();
