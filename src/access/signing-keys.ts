import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Knex } from 'knex';
import { problem } from '../kernel/problem.js';
import type { SecretBox } from '../platform/secret-box.js';

export const signingAlgorithm = 'ES256';

/** A key pair as the database holds it; the private half is sealed. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateJwkSealed: string;
  readonly createdAt: Date;
}

/** The keys, newest first: the first one signs, all of them verify. */
export const listSigningKeys = (db: Knex): Promise<SigningKeyRow[]> =>
  db<SigningKeyRow>('signingKey').orderBy([
    { column: 'createdAt', order: 'desc' },
    { column: 'kid', order: 'desc' },
  ]);

async function insertSigningKey(trx: Knex, box: SecretBox): Promise<string> {
  const pair = await generateKeyPair(signingAlgorithm, { extractable: true });
  const kid = randomUUID();
  const publicJwk = {
    ...(await exportJWK(pair.publicKey)),
    kid,
    alg: signingAlgorithm,
    use: 'sig',
  };
  const privateJwkSealed = box.seal(JSON.stringify(await exportJWK(pair.privateKey)));
  await trx('signingKey').insert({
    kid,
    publicJwk,
    privateJwkSealed,
    createdAt: trx.raw('clock_timestamp()'),
  });
  return kid;
}

/** Two processes that start at once on an empty database must agree on one key. */
const alone = <T>(db: Knex, work: (trx: Knex.Transaction) => Promise<T>): Promise<T> =>
  db.transaction(async (trx) => {
    await trx.raw('lock table signing_key in exclusive mode');
    return work(trx);
  });

/** Makes the first key of a new installation. */
export const ensureSigningKey = (db: Knex, box: SecretBox): Promise<void> =>
  alone(db, async (trx) => {
    if (!(await trx('signingKey').first('kid'))) await insertSigningKey(trx, box);
  });

/** Makes a new key that signs from now on; those before it go on verifying. Returns its id. */
export const rotateSigningKey = (db: Knex, box: SecretBox): Promise<string> =>
  alone(db, (trx) => insertSigningKey(trx, box));

/**
 * The result of resealing secrets: the number resealed, and the holders of secrets that no key
 * opens.
 */
export interface SealedAgain {
  readonly sealed: number;
  readonly lost: readonly string[];
}

/** Seals the private halves of all keys with the current secret key. */
export const sealSigningKeysAgain = (db: Knex, box: SecretBox): Promise<SealedAgain> =>
  alone(db, async (trx) => {
    const fresh: { kid: string; sealed: string }[] = [];
    const lost: string[] = [];
    for (const { kid, privateJwkSealed } of await listSigningKeys(trx)) {
      try {
        const sealed = box.sealAgain(privateJwkSealed);
        if (sealed !== undefined) fresh.push({ kid, sealed });
      } catch {
        lost.push(`the signing key ${kid}`);
      }
    }
    if (fresh.length > 0) {
      await trx.raw(
        `update signing_key set private_jwk_sealed = input.sealed
         from unnest(?::text[], ?::text[]) as input (kid, sealed) where signing_key.kid = input.kid`,
        [fresh.map(({ kid }) => kid), fresh.map(({ sealed }) => sealed)],
      );
    }
    return { sealed: fresh.length, lost };
  });

/**
 * Removes a key: tokens that it signed are refused from then on. False when there is none of that
 * id. 409: it is the one that signs.
 */
export const removeSigningKey = (db: Knex, kid: string): Promise<boolean> =>
  alone(db, async (trx) => {
    const [newest] = await listSigningKeys(trx);
    if (newest?.kid === kid) {
      throw problem.conflict(`The key '${kid}' signs new tokens; rotate before you remove it.`);
    }
    return (await trx('signingKey').where({ kid }).delete()) > 0;
  });
