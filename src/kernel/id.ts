import { hash, randomFillSync } from 'node:crypto';

const pool = Buffer.allocUnsafe(4096);
let poolNext = pool.length;
let lastMs = 0;
let sequence = 0;

/** Random bytes are dear in small portions. */
function randomWord(): number {
  if (poolNext + 4 > pool.length) {
    randomFillSync(pool);
    poolNext = 0;
  }
  poolNext += 4;
  return pool.readUInt32BE(poolNext - 4);
}

/**
 * A UUIDv7: 48 bits of time in ms, 12 + 18 bits that rise within a millisecond, 44 random bits. Ids
 * rise with time, so that rows written together lie together in an index, in the order of writing.
 */
export function newId(): string {
  const now = Date.now();
  if (now > lastMs) {
    lastMs = now;
    sequence = randomWord() & 0x1fffffff;
  } else if (sequence === 0x3fffffff) {
    lastMs += 1;
    sequence = 0;
  } else sequence += 1;
  const time = hexOf(lastMs, 12);
  const high = hexOf(sequence >>> 18, 3);
  const middle = hexOf(0x8000 | ((sequence >>> 4) & 0x3fff), 4);
  const low = hexOf(((sequence & 0xf) << 12) | (randomWord() & 0xfff), 4);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-${low}${hexOf(randomWord(), 8)}`;
}

const hexOf = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** A UUID (version 8) that names a content: equal texts have it in common, others do not. */
export function contentId(text: string): string {
  const digest = hash('sha256', text, 'hex');
  const variant = hexOf(0x8 | (Number.parseInt(digest.charAt(16), 16) & 0x3), 1);
  return (
    `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-` +
    `${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
  );
}

/**
 * An id that names a content within that of a seed and, like a UUIDv7, begins with the seed's time;
 * the database has the same as `seeded_uuid()`.
 */
export function seededId(seed: string, content: string): string {
  const time = seed.replaceAll('-', '').slice(0, 12);
  const digest = hash('md5', seed + content, 'hex');
  return (
    `${time.slice(0, 8)}-${time.slice(8)}-8${digest.slice(0, 3)}-8${digest.slice(3, 6)}-` +
    digest.slice(6, 18)
  );
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
