import { Type, type Static } from 'typebox';
import { StartupError } from '../startup-error.js';

/** Where archives are kept (docs/decisions/0345). */
export const ArchiveEnvironment = Type.Object({
  ARCHIVE_URL: Type.Optional(
    Type.String({
      format: 'archive-url',
      description: 'a folder such as file:///var/archive, or a bucket such as s3://bucket/folder',
    }),
  ),
  ARCHIVE_ENDPOINT: Type.Optional(
    Type.String({
      format: 'http-url',
      description: 'an address such as https://s3.example without query or fragment',
    }),
  ),
  ARCHIVE_REGION: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9-]{1,40}$',
      description: 'the name of a region, such as eu-central-1',
    }),
  ),
  ARCHIVE_ACCESS_KEY_ID: Type.Optional(Type.String({ description: 'the id of an access key' })),
  ARCHIVE_SECRET_ACCESS_KEY: Type.Optional(
    Type.String({ description: 'the secret of that access key' }),
  ),
});

/** Whether a text is the address of a folder of this machine, or of a bucket. */
export function isArchiveUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, pathname, username, search, hash } = new URL(text);
  if (search !== '' || hash !== '' || username !== '') return false;
  if (protocol === 'file:') return host === '' && pathname.length > 1;
  return protocol === 's3:' && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(host);
}

export function refuseHalfAKey(values: Static<typeof ArchiveEnvironment>): void {
  const names = ['ARCHIVE_ACCESS_KEY_ID', 'ARCHIVE_SECRET_ACCESS_KEY'] as const;
  const [missing] = names.filter((name) => values[name] === undefined);
  if (missing === undefined || names.every((name) => values[name] === undefined)) return;
  throw new StartupError(`${missing} is not set: ${names.join(' and ')} belong together.`);
}

/** Undefined: nothing is archived. */
export function archiveSettings(values: Static<typeof ArchiveEnvironment>) {
  const { ARCHIVE_URL: url } = values;
  if (url === undefined) return undefined;
  const { ARCHIVE_ACCESS_KEY_ID: accessKeyId } = values;
  const { ARCHIVE_SECRET_ACCESS_KEY: secretAccessKey } = values;
  return {
    url,
    s3: {
      endpoint: values.ARCHIVE_ENDPOINT,
      region: values.ARCHIVE_REGION,
      credentials:
        accessKeyId === undefined || secretAccessKey === undefined
          ? undefined
          : { accessKeyId, secretAccessKey },
    },
  };
}

export type ArchiveSettings = NonNullable<ReturnType<typeof archiveSettings>>;
