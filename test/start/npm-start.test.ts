import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readInstance } from '../../src/platform/embedded/instance-lock.js';
import { findProcesses, freePort } from '../../src/platform/embedded/processes.js';
import { makeFolder, removeFolder, startProgram, until, type Started } from './workbench.js';

describe('npm start', function () {
  // The limits are those of a person's patience, on a machine that others use as well.
  this.timeout(120_000);
  let folder = '';
  let port = '';
  let instance: Started | undefined;

  before(async () => {
    folder = await makeFolder();
    port = String(await freePort());
  });
  after(async () => {
    instance?.child.kill('SIGKILL');
    await removeFolder(folder);
  });

  const launch = (env: Record<string, string> = {}): Started =>
    startProgram('npm', ['start', '--silent'], { PORT: port, DATA_DIR: folder, ...env });

  async function ready(): Promise<number> {
    const since = Date.now();
    const started = launch();
    instance = started;
    await until(
      () => started.output().includes('Durabill is ready') || started.child.exitCode !== null,
      60_000,
      'the banner',
    );
    expect(started.output()).to.contain('Durabill is ready');
    return Date.now() - since;
  }

  /** The command of the banner, as a person would copy it. */
  const pasted = (): string => /^curl .*\n .*$/m.exec(instance?.output() ?? '')?.[0] ?? 'false';

  it('shows addresses and a command that works when pasted', async () => {
    await ready();
    expect(pasted()).to.contain('/api/v1/external/currencies?size=3');
    const { stdout } = await promisify(execFile)('bash', ['-c', pasted()]);
    expect(JSON.parse(stdout)).not.to.have.property('error');
    const running = await readInstance(folder);
    expect(running).to.deep.include({ state: 'ready', isRunning: true });
    expect(running?.apiUrl).to.equal(`http://127.0.0.1:${port}`);
  });

  it('refuses a second instance on the folder, and another one on the port, in one line', async () => {
    const second = launch();
    expect(await second.ended).to.equal(1);
    expect(second.output().trim()).to.match(
      /^durabill: Durabill already runs on the data folder .*$/,
    );
    const other = await makeFolder();
    const third = launch({ DATA_DIR: other });
    expect(await third.ended).to.equal(1);
    expect(third.output().trim()).to.match(/^durabill: Port \d+ on 127.0.0.1 is in use: .*$/);
    await removeFolder(other);
  });

  it('drains on SIGTERM: exit code 0 and nothing left behind', async () => {
    const started = instance;
    started?.child.kill('SIGTERM');
    expect(await started?.ended).to.equal(0);
    expect(findProcesses(folder)).to.deep.equal([]);
    expect(await readInstance(folder)).to.deep.include({ state: 'stopped', isRunning: false });
  });

  it('starts again after kill -9 on the same data, and says how long it took', async () => {
    await ready();
    const lock = await readInstance(folder);
    expect(lock?.isRunning).to.equal(true);
    process.kill(-(instance?.child.pid ?? 0), 'SIGKILL');
    await instance?.ended;
    const elapsedMs = await ready();
    process.stderr.write(`      second start: ${elapsedMs} ms\n`);
    instance?.child.kill('SIGTERM');
    expect(await instance?.ended).to.equal(0);
  });
});
