import {
  createLocalJWKSet,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import type { Knex } from 'knex';
import { randomUUID } from 'node:crypto';
import { problem } from '../kernel/problem.js';
import type { Identity } from './identity.js';
import type { SecretBox } from './secret-box.js';

const algorithm = 'ES256';
/** Expected in `aud` of every token of this API. */
const audience = 'durabill';

interface SigningKeyRow {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateJwkSealed: string;
}

export interface TokenRequest {
  readonly tenantId: string;
  readonly orgId: string | null;
  readonly roles: readonly string[];
  readonly subject: string;
  readonly expiresInSeconds: number;
}

/** Signs and verifies the JWTs of this instance with keys kept in its database. */
export interface TokenKeys {
  /** The public keys, as `/.well-known/jwks.json` shows them. */
  readonly jwks: JSONWebKeySet;
  issue(request: TokenRequest): Promise<string>;
  /** Throws an unauthorized problem for a token that is malformed, expired or not ours. */
  verify(token: string): Promise<{ identity: Identity; expiresAt: number }>;
}

async function createSigningKey(db: Knex, box: SecretBox): Promise<void> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const kid = randomUUID();
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  const privateJwkSealed = box.seal(JSON.stringify(await exportJWK(privateKey)));
  // Two processes that start at once on an empty database must agree on one key.
  await db.transaction(async (trx) => {
    await trx.raw('lock table signing_key in exclusive mode');
    if (await trx('signingKey').first('kid')) return;
    await trx('signingKey').insert({ kid, publicJwk, privateJwkSealed });
  });
}

const listSigningKeys = (db: Knex): Promise<SigningKeyRow[]> =>
  db<SigningKeyRow>('signingKey').orderBy('createdAt', 'desc');

/** Loads the keys, makes the first one on a new installation. `issuer` is the instance's URL. */
export async function openTokenKeys(db: Knex, box: SecretBox, issuer: string): Promise<TokenKeys> {
  let rows = await listSigningKeys(db);
  if (rows.length === 0) {
    await createSigningKey(db, box);
    rows = await listSigningKeys(db);
  }
  const newest = rows[0];
  if (!newest) throw new Error('There is no signing key.');
  const privateKey = await importJWK(openPrivateJwk(box, newest), algorithm);
  const jwks: JSONWebKeySet = { keys: rows.map((row) => row.publicJwk) };
  const keySet = createLocalJWKSet(jwks);
  return {
    jwks,
    issue: ({ tenantId, orgId, roles, subject, expiresInSeconds }) =>
      new SignJWT({ tenantId, roles, ...(orgId === null ? {} : { morgId: orgId }) })
        .setProtectedHeader({ alg: algorithm, kid: newest.kid, typ: 'JWT' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(subject)
        .setIssuedAt()
        .setJti(randomUUID())
        .setExpirationTime(`${expiresInSeconds}s`)
        .sign(privateKey),
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keySet, {
          algorithms: [algorithm],
          audience,
          requiredClaims: ['exp', 'sub'],
        });
        return { identity: identityOf(payload), expiresAt: (payload.exp ?? 0) * 1000 };
      } catch (error) {
        if (error instanceof errors.JWTExpired) {
          throw problem.unauthorized('The token has expired; request a new one.');
        }
        if (error instanceof errors.JOSEError)
          throw problem.unauthorized('The token is not valid.');
        throw error;
      }
    },
  };
}

function openPrivateJwk(box: SecretBox, row: SigningKeyRow): JWK {
  try {
    return JSON.parse(box.open(row.privateJwkSealed)) as JWK;
  } catch {
    throw new Error(
      'The signing key in the database was sealed with another SECRET_KEY; set the one that was used.',
    );
  }
}

function identityOf(payload: Record<string, unknown>): Identity {
  const { tenantId, morgId, roles, sub } = payload;
  if (typeof tenantId !== 'string' || tenantId === '') {
    throw problem.unauthorized("The token lacks the claim 'tenantId'.");
  }
  return {
    tenantId,
    orgId: typeof morgId === 'string' && morgId !== '' ? morgId : null,
    roles: Array.isArray(roles) ? roles.filter((role) => typeof role === 'string') : [],
    subject: typeof sub === 'string' ? sub : '',
  };
}
