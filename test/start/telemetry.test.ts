import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createTestDatabase, testServers } from '../support/servers/servers.js';
import { makeFolder, removeFolder, startModule } from './workbench.js';

/** Opens all that a process of the product opens, and tells which modules of telemetry it has loaded. */
const script = (settings: object, servers: object): string => `
import { createRequire } from 'node:module';
import { readConfig } from 'repository/src/platform/config/config.js';
import { openPlatform } from 'repository/src/process/platform.js';
import { startWorkers } from 'repository/src/worker/main.js';
import { startApi } from 'repository/src/api/main.js';
import { startOperator } from 'repository/src/api/server/operator-server.js';

const config = readConfig(${JSON.stringify({ ...settings, LOG_LEVEL: 'fatal' })});
const taskQueue = ${JSON.stringify(`telemetry-${randomBytes(4).toString('hex')}`)};
const secret = Buffer.alloc(32, 1);
const platform = await openPlatform({ ...config, port: 0, secret, taskQueue }, ${JSON.stringify(servers)});
const workers = await startWorkers(platform);
const api = await startApi(platform);
const operator = await startOperator(platform, { host: '127.0.0.1', port: 0 });
await (await fetch(api.url + '/readyz')).text();
await operator.close();
await api.close();
await workers.drain();
await platform.close();
const names = Object.keys(createRequire(import.meta.url).cache)
  .map((path) => /@opentelemetry\\/[^/]+/.exec(path)?.[0])
  .filter((name) => name !== undefined);
process.stdout.write('loaded ' + JSON.stringify([...new Set(names)].sort()));
`;

describe('telemetry', function () {
  this.timeout(240_000);
  let folder = '';
  before(async () => {
    folder = await makeFolder();
  });
  after(() => removeFolder(folder));

  async function loadedWith(settings: object): Promise<string[]> {
    const { temporal } = await testServers();
    const databaseUrl = await createTestDatabase();
    const started = await startModule(folder, script(settings, { databaseUrl, temporal }));
    expect(await started.ended, started.output()).to.equal(0);
    const [, names = ''] = started.output().split('loaded ');
    return JSON.parse(names) as string[];
  }

  it('is not loaded where no endpoint is set; the API of Prometheus comes with names alone', async () => {
    expect(await loadedWith({ OTEL_SERVICE_NAME: 'x' })).to.deep.equal(['@opentelemetry/api']);
  });

  it('is loaded where one is set', async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
    expect(await loadedWith(settings)).to.include.members([
      '@opentelemetry/sdk-trace',
      '@opentelemetry/exporter-trace-otlp-proto',
    ]);
  });
});
