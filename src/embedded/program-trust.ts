import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';

const writableByOthers = 0o002;
/** In a folder with this bit, such as /tmp, nobody replaces what belongs to another. */
const sticky = 0o1000;

/**
 * Why a program that is there must not be run: whoever may replace it, or its folder, would have us run
 * what he likes. That it tells a version shows nothing. Undefined where it is ours, or root's.
 */
export async function foreignWriter(path: string): Promise<string | undefined> {
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  const file = await realpath(path);
  for (const place of [file, dirname(file)]) {
    const { uid, mode } = await stat(place);
    const isOpen = (mode & writableByOthers) !== 0;
    const isSticky = place !== file && (mode & sticky) !== 0;
    if (uid !== 0 && uid !== me) return `${place} belongs to another user`;
    if (isOpen && !isSticky) return `other users may write ${place}`;
  }
  return undefined;
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const pinnedUrl = new URL('../../deploy/temporal-program/SHA256SUMS', import.meta.url);

/** The digest that a downloaded program must have, where one is pinned for this platform. */
export async function pinnedDigest(version: string): Promise<string | undefined> {
  const name = `temporal-${version}-${process.platform}-${process.arch}`;
  const lines = (await readFile(pinnedUrl, 'utf8')).split('\n').map((line) => line.split(/\s+/));
  return lines.find(([, of]) => of === name)?.[0];
}
