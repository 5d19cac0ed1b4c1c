import type { S3Client } from '@aws-sdk/client-s3';
import type { ArchiveStore } from '../../messages/ageing/usage-archive.js';

/** How a bucket is reached, where not by what the environment of the machine says. */
export interface S3Settings {
  /** The address of a server that is not Amazon's. */
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly credentials:
    { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** How long a server may take for a connection, and be silent. */
const connectMs = 5_000;
const silentMs = 60_000;

/** Archives in a bucket of S3, or of what speaks like it; `s3://bucket/folder`. */
export function openS3Store(url: string, settings: S3Settings): ArchiveStore {
  const { host: bucket, pathname } = new URL(url);
  const folder = pathname.replace(/^\/+|\/+$/g, '');
  const keyOf = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
  let client: Promise<S3Client> | undefined;
  // The library is large: who archives nothing does not load it.
  const open = async (): Promise<S3Client> => {
    const { S3Client: Client } = await import('@aws-sdk/client-s3');
    const { endpoint, region = 'us-east-1', credentials } = settings;
    return new Client({
      region,
      maxAttempts: 3,
      requestHandler: { connectionTimeout: connectMs, requestTimeout: silentMs },
      ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
      ...(credentials === undefined ? {} : { credentials }),
    });
  };
  const opened = (): Promise<S3Client> => (client ??= open());
  return {
    address: url,
    async write(name, bytes) {
      const { PutObjectCommand } = await import('@aws-sdk/client-s3');
      const put = new PutObjectCommand({ Bucket: bucket, Key: keyOf(name), Body: bytes });
      await (await opened()).send(put);
    },
    async read(name) {
      const { GetObjectCommand, NoSuchKey } = await import('@aws-sdk/client-s3');
      try {
        const get = new GetObjectCommand({ Bucket: bucket, Key: keyOf(name) });
        const { Body } = await (await opened()).send(get);
        return await Body?.transformToByteArray();
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
  };
}
