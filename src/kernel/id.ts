import { createHash, hash } from 'node:crypto';
import { v7 } from 'uuid';

/**
 * A UUIDv7. Ids of a process rise, so that rows written together lie together in an index, in the
 * order of writing.
 */
export const newId = (): string => v7();

/** A UUID (version 8) that names a content: equal texts have it in common, others do not. */
export const contentId = (text: string): string => contentIdOfDigest(hash('sha256', text, 'hex'));

/** Text that is hashed at once. */
const hashedAtOnce = 16 * 1024;

/** The SHA-256 of a text that comes in pieces, in hexadecimal digits; yields between portions of it. */
export function* digestOfPieces(pieces: Iterable<string>): Generator<undefined, string, undefined> {
  const sha256 = createHash('sha256');
  let portion = '';
  for (const piece of pieces) {
    portion += piece;
    if (portion.length < hashedAtOnce) continue;
    sha256.update(portion);
    portion = '';
    yield;
  }
  return sha256.update(portion).digest('hex');
}

/** What `contentId` gives, by the SHA-256 of the text in hexadecimal digits. */
export function contentIdOfDigest(digest: string): string {
  const variant = (0x8 | (Number.parseInt(digest.charAt(16), 16) & 0x3)).toString(16);
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

/** The least and the greatest of some ids; empty texts where there are none. */
export function boundsOf(ids: readonly string[]): {
  readonly least: string;
  readonly greatest: string;
} {
  let [least = '', greatest = ''] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < least) least = id;
    else if (id > greatest) greatest = id;
  }
  return { least, greatest };
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}
