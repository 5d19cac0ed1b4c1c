import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readInstance } from '../../src/embedded/instance-lock.js';
import { findProcesses } from '../../src/embedded/processes.js';
import { freePort } from '../../src/platform/free-port.js';
import {
  makeFolder,
  removeFolder,
  repository,
  startProgram,
  until,
  type Started,
} from './workbench.js';

/** What is not pasted: they run already, or need a program of somebody else. */
const notPasted = /^(npm ci|npm start|npm ci && npm test|claude .*)$/;

/** The commands of README, up to its configuration, as one script. */
async function readmeScript(url: string): Promise<string> {
  const text = await readFile(join(repository, 'README.md'), 'utf8');
  const [before = ''] = text.split('\n## Configuration');
  const blocks = [...before.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.split('\n'));
  const pasted = lines.filter((line) => !notPasted.test(line)).join('\n');
  return pasted.replaceAll('http://localhost:3000', url);
}

describe('npm start', function () {
  // The limits are those of a person's patience, on a machine that others use as well.
  this.timeout(480_000);
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

  // spec/platform.md R47
  it('shows addresses and a command that works when pasted', async () => {
    await ready();
    expect(pasted()).to.contain('/api/v1/external/currencies?size=3');
    expect(instance?.output()).to.match(new RegExp(`Console +http://127.0.0.1:${port}/console\n`));
    const { stdout } = await promisify(execFile)('bash', ['-c', pasted()]);
    expect(JSON.parse(stdout)).not.to.have.property('error');
    const running = await readInstance(folder);
    expect(running).to.deep.include({ state: 'ready', isRunning: true });
    expect(running?.apiUrl).to.equal(`http://127.0.0.1:${port}`);
  });

  // spec/platform.md R54
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

  const durabill = async (...words: string[]): Promise<{ code: unknown; output: string }> => {
    const command = ['run', '--silent', 'durabill', '--', ...words];
    const printed = startProgram('npm', command, { PORT: port, DATA_DIR: folder });
    return { code: await printed.ended, output: printed.output() };
  };

  // spec/platform.md R50
  it('does all that README says, in one tenant, from the token to the PDF', async () => {
    const written = ['usage.csv', 'invoice.pdf'].map((name) => join(repository, name));
    // An answer that is an error ends the script, as it would end a person's reading.
    const strict = 'set -e -o pipefail; curl() { command curl --fail-with-body "$@"; }';
    try {
      const script = `${strict}\n${await readmeScript(`http://localhost:${port}`)}`;
      const pasting = startProgram('bash', ['-c', script], { PORT: port, DATA_DIR: folder });
      expect(await pasting.ended, pasting.output()).to.equal(0);
      const output = pasting.output();
      expect(output).to.contain('accepted 14 = rated 12 + duplicate 1 + rejected 1 + pending 0');
      expect(output).to.contain('accepted 2 = rated 2 + duplicate 0 + rejected 0 + pending 0');
      // (1,200 + 800 + 2,000) x 0.0035.
      expect(output).to.match(/"invoiceCount":1\b|"invoices":1\b/);
      expect(output).to.match(/"amount":14\b/);
      const pdf = await readFile(written[1] ?? '');
      expect(pdf.subarray(0, 5).toString()).to.equal('%PDF-');
    } finally {
      for (const path of written) await rm(path, { force: true });
    }
  });

  // spec/platform.md R49
  it('says its version, what runs, and whether it is ready', async () => {
    const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(await durabill('--version')).to.deep.equal({ code: 0, output: `${version}\n` });
    const running = await durabill('status');
    expect(running.output).to.contain(`http://127.0.0.1:${port}`).and.contain('Durabill is ready');
    expect(running.code).to.equal(0);
  });

  it('deletes a tenant whose name is said twice, and no other', async () => {
    expect((await durabill('tenant', 'create', 'gone')).code).to.equal(0);
    const unsure = await durabill('tenant', 'delete', 'gone');
    expect(unsure.code).to.equal(1);
    expect(unsure.output).to.contain('durabill tenant delete gone --confirm gone');
    const wrong = await durabill('tenant', 'delete', 'gone', '--confirm', 'default');
    expect(wrong.code).to.equal(1);
    const deleted = await durabill('tenant', 'delete', 'gone', '--confirm', 'gone');
    expect(deleted.output).to.match(/^deleted gone$/m);
    const { output } = await durabill('tenant', 'list');
    expect(output).to.match(/^default\t/m);
    expect(output).not.to.contain('gone');
    const again = await durabill('tenant', 'delete', 'gone', '--confirm', 'gone');
    expect(again.output).to.contain("There is no tenant 'gone'");
  });

  it('notices a configured server that is away before it starts the embedded ones', async () => {
    for (const [env, message] of [
      [
        { TEMPORAL_ADDRESS: '127.0.0.1:1' },
        /^durabill: Cannot reach Temporal at TEMPORAL_ADDRESS 127\.0\.0\.1:1: .*$/,
      ],
      [
        { DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d' },
        /^durabill: Cannot use the database of DATABASE_URL at 127\.0\.0\.1:1: .*$/,
      ],
    ] as const) {
      const other = await makeFolder();
      const started = launch({ DATA_DIR: other, PORT: String(await freePort()), ...env });
      expect(await started.ended).to.equal(1);
      expect(started.output().trim()).to.match(message);
      const servers = (await readdir(other)).filter((name) => /postgres|temporal/.test(name));
      expect(servers).to.deep.equal([]);
      await removeFolder(other);
    }
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
  });

  it('is stopped by a command; then nothing runs, and stopping again changes nothing', async () => {
    const stopped = await durabill('stop');
    expect(stopped.output).to.match(/^stopped process \d+ on /m);
    expect(stopped.code).to.equal(0);
    expect(await instance?.ended).to.equal(0);
    expect(findProcesses(folder)).to.deep.equal([]);
    const status = await durabill('status');
    expect(status.output).to.contain('none on this folder').and.contain('Durabill is not ready');
    expect(status.code).to.equal(1);
    const again = await durabill('stop');
    expect(again).to.deep.equal({ code: 0, output: `Durabill does not run on ${folder}\n` });
  });
});
