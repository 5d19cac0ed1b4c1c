import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findProcesses } from '../../src/embedded/processes.js';
import { freePort } from '../../src/platform/free-port.js';
import { makeFolder, removeFolder, startProgram, until, type Started } from '../start/workbench.js';

const preload = fileURLToPath(new URL('../support/servers/fault-on-signal.cjs', import.meta.url));

/** What a supervisor (systemd, Docker, Kubernetes) sees of a product that cannot go on. */
describe('a product in which something fails for good', function () {
  // A start of the whole product for each, on a machine that others use as well.
  this.timeout(480_000);
  let folder = '';
  let started: Started | undefined;
  beforeEach(async () => {
    folder = await makeFolder();
  });
  afterEach(async () => {
    started?.child.kill('SIGKILL');
    await started?.ended;
    await removeFolder(folder);
  });

  async function launch(
    fault: string,
  ): Promise<{ readonly url: string; readonly operator: string }> {
    const [port, metrics] = [String(await freePort()), String(await freePort())];
    const product = startProgram(
      process.execPath,
      ['--require', preload, 'bin/durabill.js', 'start'],
      { PORT: port, METRICS_PORT: metrics, DATA_DIR: folder, TEST_FAULT: fault },
    );
    started = product;
    await until(
      () => product.output().includes('Durabill is ready') || product.child.exitCode !== null,
      90_000,
      'the banner',
    );
    expect(product.output(), product.output()).to.contain('Durabill is ready');
    return { url: `http://127.0.0.1:${port}`, operator: `http://127.0.0.1:${metrics}` };
  }

  /** The lines of the log that a test is about. */
  const logged = (text: string): string[] =>
    (started?.output() ?? '').split('\n').filter((line) => line.includes(text));

  it('a worker: the process drains and ends with exit code 1, and one line says why', async () => {
    const { url, operator } = await launch('worker');
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    started?.child.kill('SIGWINCH');
    const seen: number[] = [];
    const token = /Bearer (\S+?)['"]/.exec(started?.output() ?? '')?.[1] ?? '';
    // The first flow that reaches the worker finds that it is gone.
    const flow = fetch(`${url}/api/v1/external/run/billing/service/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'S' }),
    }).catch(() => undefined);
    await until(
      async () => {
        const status = await fetch(`${operator}/readyz`).then(
          ({ status: found }) => found,
          () => 0,
        );
        seen.push(status);
        return status !== 200;
      },
      30_000,
      'an instance that is not ready',
    );
    expect(seen.at(-1)).to.be.oneOf([503, 0]);
    expect(await started?.ended).to.equal(1);
    await flow;
    expect(logged('ending, to be started again, because a worker has failed')).to.have.length(1);
    // The flow held the drain up for as long as it may: its servers were asked to end at the last moment.
    await until(() => findProcesses(folder).length === 0, 30_000, 'the end of the servers');
  });

  for (const [kind, text] of [
    ['exception', 'thrown where nobody catches'],
    ['rejection', 'rejected where nobody waits'],
  ] as const) {
    it(`${kind} that nobody caught: the process drains and ends with exit code 1`, async () => {
      await launch(kind);
      started?.child.kill('SIGWINCH');
      expect(await started?.ended).to.equal(1);
      const lines = logged('ending after an error that nobody caught');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include(text);
      expect(findProcesses(folder)).to.deep.equal([]);
    });
  }
});
