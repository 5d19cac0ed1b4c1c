import { randomBytes } from 'node:crypto';
import { cp, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../src/platform/free-port.js';
import { createTestDatabase, testServers } from '../support/servers/servers.js';
import { makeFolder, removeFolder, repository, startProgram, until } from './workbench.js';

describe('an installation without embedded servers, as the image is', function () {
  this.timeout(240_000);
  let folder = '';
  let program = '';

  before(async () => {
    folder = await makeFolder();
    for (const part of [
      'bin',
      'src',
      'migrations',
      'docs/guide',
      'package.json',
      'tsconfig.json',
    ]) {
      await mkdir(join(folder, part, '..'), { recursive: true });
      await cp(join(repository, part), join(folder, part), { recursive: true });
    }
    await rm(join(folder, 'src/embedded'), { recursive: true });
    await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    program = join(folder, 'bin/durabill.js');
  });
  after(() => removeFolder(folder));

  // spec/platform.md R47
  it('starts on the servers of its configuration, and its commands work on them', async () => {
    const { temporal } = await testServers();
    const env = {
      DATABASE_URL: await createTestDatabase(),
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      SECRET_KEY: randomBytes(32).toString('base64'),
      PORT: String(await freePort()),
      DATA_DIR: folder,
    };
    const run = (...words: string[]) => startProgram(process.execPath, [program, ...words], env);
    const started = run('start');
    const isReady = () => started.output().includes('Durabill is ready');
    await until(() => isReady() || started.child.exitCode !== null, 90_000, 'the banner');
    expect(isReady(), started.output()).to.equal(true);
    const created = run('tenant', 'create', 'acme');
    expect(await created.ended, created.output()).to.equal(0);
    const status = run('status');
    expect(await status.ended, status.output()).to.equal(0);
    started.child.kill('SIGTERM');
    expect(await started.ended, started.output()).to.equal(0);
  });

  it('says what is missing where the configuration names no servers', async () => {
    const started = startProgram(process.execPath, [program, 'start'], { DATA_DIR: folder });
    expect(await started.ended).to.equal(1);
    expect(started.output()).to.contain('set DATABASE_URL and TEMPORAL_ADDRESS');
  });
});
