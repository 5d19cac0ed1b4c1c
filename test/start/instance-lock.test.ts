import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { dataFile } from '../../src/platform/data-folder.js';
import {
  acquireInstanceLock,
  alreadyRunning,
  readInstance,
  refuseNewerFormat,
  updateInstance,
} from '../../src/embedded/instance-lock.js';
import { identify } from '../../src/embedded/processes.js';
import { makeFolder, removeFolder, startModule, until } from './workbench.js';

describe('instance lock', () => {
  let folder = '';
  beforeEach(async () => (folder = await makeFolder()));
  afterEach(async () => removeFolder(folder));

  const holder = `
    import { acquireInstanceLock } from 'repository/src/embedded/instance-lock.js';
    const lock = await acquireInstanceLock(FOLDER);
    console.log(lock === undefined ? 'refused' : 'locked');
    setInterval(() => undefined, 1000);`;

  it('admits one, and the next one after its release', async () => {
    const first = await acquireInstanceLock(folder);
    expect(first).not.to.equal(undefined);
    expect(await acquireInstanceLock(folder)).to.equal(undefined);
    await first?.release();
    const second = await acquireInstanceLock(folder);
    expect(second).not.to.equal(undefined);
    // A holder that was released already does not take the lock of its successor away.
    await first?.release();
    expect(await readFile(dataFile.lock(folder), 'utf8')).to.contain(String(process.pid));
  });

  it('is taken over from a killed process', async () => {
    const other = await startModule(folder, holder.replace('FOLDER', JSON.stringify(folder)));
    await until(() => other.output().includes('locked'), 30_000, 'locking');
    expect(await acquireInstanceLock(folder)).to.equal(undefined);
    expect((await alreadyRunning(folder)).message).to.contain(`(process ${other.child.pid})`);
    other.child.kill('SIGKILL');
    await other.ended;
    expect(await acquireInstanceLock(folder)).not.to.equal(undefined);
  });

  it('does not take a reused process number for the holder', async () => {
    const stale = JSON.stringify({ pid: process.pid, birth: 'another boot/1' });
    await writeFile(dataFile.lock(folder), stale);
    expect(await acquireInstanceLock(folder)).not.to.equal(undefined);
  });

  it('takes a damaged file for a stale lock', async () => {
    await writeFile(dataFile.lock(folder), '');
    expect(await acquireInstanceLock(folder)).not.to.equal(undefined);
  });

  it('goes to exactly one of many that take over at once', async () => {
    await writeFile(dataFile.lock(folder), '{}');
    const tries = Array.from({ length: 20 }, async () => acquireInstanceLock(folder));
    const locks = (await Promise.all(tries)).filter((lock) => lock !== undefined);
    expect(locks).to.have.length(1);
  });

  // spec/platform.md R54
  it('keeps addresses for other processes, and changes them one at a time', async () => {
    expect(await readInstance(folder)).to.equal(undefined);
    await Promise.all([
      updateInstance(folder, ({ ports }) => ({ ports: { ...ports, postgres: 1 } })),
      updateInstance(folder, ({ ports }) => ({ ports: { ...ports, temporal: 2 } })),
    ]);
    expect(await readInstance(folder)).to.deep.include({
      ports: { postgres: 1, temporal: 2 },
      isRunning: false,
    });
    await acquireInstanceLock(folder);
    expect((await readInstance(folder))?.isRunning).to.equal(true);
  });

  it('refuses a folder of a newer version', async () => {
    await writeFile(dataFile.instance(folder), '{"format":99}');
    const error: unknown = await refuseNewerFormat(folder).catch((thrown: unknown) => thrown);
    expect(String(error)).to.match(/written by a newer Durabill \(format 99; this one knows 1\)/);
  });

  it('knows the dead from the living', () => {
    expect(identify(process.pid)).to.have.property('pid', process.pid);
    expect(identify(2 ** 22 + 5)).to.equal(undefined);
    expect(identify(Number.NaN)).to.equal(undefined);
  });
});
