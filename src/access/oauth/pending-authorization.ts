import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { openBytes, sealBytes } from '../../platform/secret-box.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** An authorization request of a client that waits for its user's decision, in one browser. */
export interface PendingFlow {
  readonly id: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly scopes: readonly string[];
  readonly resource: string;
  readonly state: string | null;
  readonly expiresAt: Date;
}

/** A flow with the name of its client. */
export type ShownFlow = PendingFlow & { readonly clientName: string | null };

/** How long a user may take to decide. */
export const flowLifetimeSeconds = 15 * 60;

/** Browsers keep cookies of up to 4,096 bytes with their names and attributes. */
const sealedMax = 3_900;
/** Bytes of sealed flows that a process remembers. */
const rememberedMax = 8 * 1024 * 1024;

/** Random bytes and the end in seconds, which the last bytes of an id confirm. */
const markedBytes = 10;

interface Keys {
  readonly seal: Buffer;
  readonly mark: Buffer;
}

const keysOf = (secret: Buffer): Keys => {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'durabill oauth flow', 64));
  return { seal: derived.subarray(0, 32), mark: derived.subarray(32) };
};

const markOf = ({ mark }: Keys, id: Buffer): Buffer =>
  createHmac('sha256', mark).update(id.subarray(0, markedBytes)).digest().subarray(0, 6);

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** A version 4 UUID of ours: its end, random bits, and what confirms both. */
function newFlowId(keys: Keys, expiresAt: Date): string {
  const bytes = randomBytes(16);
  bytes.writeUInt32BE(Math.floor(expiresAt.getTime() / 1000));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  markOf(keys, bytes).copy(bytes, markedBytes);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/**
 * Pending authorization flows. They are not stored, since anyone could fill the database. A flow
 * travels encrypted, as a cookie of the browser that began it, and opens with that browser's secret
 * only; the process that sealed it caches it for browsers that send back the secret only
 * (docs/decisions/0198).
 */
export class PendingFlows {
  readonly #keys: Keys;
  readonly #known: readonly Keys[];
  readonly #remembered = new LRUCache<string, string>({
    maxSize: rememberedMax,
    sizeCalculation: (sealed) => sealed.length + 100,
    ttl: flowLifetimeSeconds * 1000,
  });

  constructor(secret: Buffer, previousSecrets: readonly Buffer[] = []) {
    this.#keys = keysOf(secret);
    this.#known = [this.#keys, ...previousSecrets.map(keysOf)];
  }

  /** Seals a flow for the browser of this secret; undefined: it is larger than a cookie may be. */
  seal(
    asked: Omit<PendingFlow, 'id'>,
    browserSecret: string,
  ): { readonly id: string; readonly sealed: string } | undefined {
    const { expiresAt, ...rest } = asked;
    const id = newFlowId(this.#keys, expiresAt);
    const plain = Buffer.from(JSON.stringify({ ...rest, expiresAt: expiresAt.getTime() }));
    const context = `${id} ${browserSecret}`;
    const sealed = sealBytes(this.#keys.seal, plain, context).toString('base64url');
    if (sealed.length > sealedMax) return undefined;
    this.#remembered.set(id, sealed);
    return { id, sealed };
  }

  /** The expiry of a flow, for any browser; undefined for an id that is not ours. */
  endOf(id: string): Date | undefined {
    const bytes = bytesOf(id);
    const isOurs = this.#known.some((keys) =>
      timingSafeEqual(markOf(keys, bytes), bytes.subarray(markedBytes)),
    );
    return isOurs ? new Date(bytes.readUInt32BE() * 1000) : undefined;
  }

  /** Opens a flow with its browser's secret and cookies; undefined if another browser began it. */
  open(id: string, browserSecret: string, cookies: readonly string[]): PendingFlow | undefined {
    const remembered = this.#remembered.get(id);
    const candidates = remembered === undefined ? cookies : [remembered, ...cookies];
    const context = `${id} ${browserSecret}`;
    for (const sealed of candidates) {
      for (const { seal } of this.#known) {
        try {
          const text = openBytes(seal, Buffer.from(sealed, 'base64url'), context).toString();
          const { expiresAt, ...rest } = JSON.parse(text) as Omit<PendingFlow, 'expiresAt'> & {
            readonly expiresAt: number;
          };
          return { ...rest, id, expiresAt: new Date(expiresAt) };
        } catch {
          // Of another flow, another browser or another key.
        }
      }
    }
    return undefined;
  }
}

/** Whether a user has decided about a flow. */
export const isDecided = async (db: Knex, id: string): Promise<boolean> =>
  (await db('oauthDecision').where({ id }).first('id')) !== undefined;

/** Marks a flow as decided; false if it was decided before. Concurrent decisions are serialized. */
export async function decideFlow(trx: Knex, { id, expiresAt }: PendingFlow): Promise<boolean> {
  const rows = (await trx('oauthDecision')
    .insert({ id, expiresAt })
    .onConflict('id')
    .ignore()
    .returning('id')) as unknown[];
  return rows.length > 0;
}

/** Decisions that are kept before denials, which need no credential, are kept no more. */
const denialsMax = 10_000;

/**
 * Marks a flow as denied; false when it was decided before. Where strangers deny more than can be
 * kept, a denial is forgotten: then its own browser may still decide otherwise.
 */
export async function denyFlow(db: Knex, flow: PendingFlow): Promise<boolean> {
  const [counted] = await sqlRows<{ count: number }>(
    db,
    `select count(*)::int as count from (select from oauth_decision limit ?) as kept`,
    [denialsMax],
  );
  if ((counted?.count ?? 0) < denialsMax) return decideFlow(db, flow);
  return !(await isDecided(db, flow.id));
}
