import { expect } from 'chai';
import { readConfig } from '../../src/platform/config/config.js';

const none = { endpoint: undefined, region: undefined, credentials: undefined };
const key = { ARCHIVE_ACCESS_KEY_ID: 'id', ARCHIVE_SECRET_ACCESS_KEY: 'secret' };

/** As [variables, the place of archives]. */
const places = [
  [{}, undefined],
  [{ ARCHIVE_URL: 'file:///var/archive' }, { url: 'file:///var/archive', s3: none }],
  [{ ARCHIVE_URL: 's3://bucket' }, { url: 's3://bucket', s3: none }],
  [
    {
      ARCHIVE_URL: 's3://bucket/folder',
      ARCHIVE_ENDPOINT: 'http://127.0.0.1:9000',
      ARCHIVE_REGION: 'eu-central-1',
      ...key,
    },
    {
      url: 's3://bucket/folder',
      s3: {
        endpoint: 'http://127.0.0.1:9000',
        region: 'eu-central-1',
        credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      },
    },
  ],
] as const;

const form =
  'it must be a folder such as file:///var/archive, or a bucket such as s3://bucket/folder.';

/** As [variables, a part of what the start says]. */
const faults = [
  [{ ARCHIVE_URL: '/var/archive' }, `ARCHIVE_URL is "/var/archive": ${form}`],
  [{ ARCHIVE_URL: 'file://host/var' }, form],
  [{ ARCHIVE_URL: 'file:///' }, form],
  [{ ARCHIVE_URL: 'https://bucket.example/x' }, form],
  [{ ARCHIVE_URL: 's3://id:secret@bucket/x' }, form],
  [{ ARCHIVE_URL: 's3://Bucket' }, form],
  [key, 'is set, but ARCHIVE_URL is not'],
  [
    { ARCHIVE_URL: 's3://bucket', ARCHIVE_ACCESS_KEY_ID: 'id' },
    'ARCHIVE_SECRET_ACCESS_KEY is not set: ARCHIVE_ACCESS_KEY_ID and ARCHIVE_SECRET_ACCESS_KEY belong together.',
  ],
] as const;

describe('the place of archives in the configuration', () => {
  for (const [variables, place] of places) {
    it(`is that of ${JSON.stringify(variables)}`, () => {
      expect(readConfig(variables).archive).to.deep.equal(place);
    });
  }

  for (const [variables, fault] of faults) {
    it(`is refused: ${JSON.stringify(variables)}`, () => {
      expect(() => readConfig(variables)).to.throw(fault);
    });
  }
});
