import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'koa';

/** A file that is the same for every caller, held in memory once it was asked for. */
export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly compressed: Buffer;
  readonly etag: string;
}

const compress = promisify(gzip);

/** The asset of a content, compressed once. */
export async function assetOf(type: string, content: string | Buffer): Promise<Asset> {
  const plain = Buffer.from(content);
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 27);
  return { type, plain, compressed: await compress(plain), etag };
}

/** Makes something when it is first asked for, and keeps it; what failed is tried again. */
export function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return async () => {
    made ??= make();
    try {
      return await made;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
}

/** For `Cache-Control`: kept, and asked for again each time whether it has changed. */
export const revalidated = 'no-cache';

/** Answers with an asset, or with 304 to whoever has it. */
export function serveAsset(ctx: Context, asset: Asset, caching: string): void {
  const isCompressed = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.status = 200;
  ctx.set('Cache-Control', caching);
  ctx.vary('Accept-Encoding');
  ctx.etag = isCompressed ? `${asset.etag}-gzip` : asset.etag;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (isCompressed) ctx.set('Content-Encoding', 'gzip');
  ctx.type = asset.type;
  ctx.body = isCompressed ? asset.compressed : asset.plain;
}
