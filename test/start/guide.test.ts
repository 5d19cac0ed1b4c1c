import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { freePort } from '../../src/platform/free-port.js';
import { usageRejectionCodes } from '../../src/schemas/usage/usage-event.js';
import { chapterPath, checkShown, readExamples, runExamples } from '../support/http/guide.js';
import { makeFolder, removeFolder, startProgram, until, type Started } from './workbench.js';

const start = 'README.md';
/** In the order in which a person reads them; what one makes, the next ones meet. */
const chapters = [
  'prices.md',
  'llm.md',
  'invoice.md',
  'corrections.md',
  'rejected.md',
  'exports.md',
  'sign-in.md',
  'erasure.md',
  'families.md',
  'balances.md',
  'adjustments.md',
  'workflows.md',
];

describe('the guide', function () {
  // The limits are those of a person's patience, on a machine that others use as well.
  this.timeout(600_000);
  let folder = '';
  let instance: Started | undefined;
  let run: { url: string; env: Record<string, string> };

  before(async () => {
    folder = await makeFolder();
    const port = String(await freePort());
    const env = { PORT: port, DATA_DIR: folder };
    run = { url: `http://localhost:${port}`, env };
    const started = startProgram('npm', ['start', '--silent'], env);
    instance = started;
    const isReady = (): boolean => started.output().includes('Durabill is ready');
    await until(() => isReady() || started.child.exitCode !== null, 60_000, 'the banner');
    expect(started.output()).to.contain('Durabill is ready');
  });
  after(async () => {
    instance?.child.kill('SIGTERM');
    await instance?.ended;
    await removeFolder(folder);
  });

  it('shows answers that come when its commands are pasted, chapter after chapter', async () => {
    const examples = [];
    for (const name of [start, ...chapters]) examples.push(...(await readExamples(name)));
    const outputs = await runExamples(examples, run);
    examples.forEach((example, index) => checkShown(example, outputs[index] ?? ''));
    expect(examples.filter(({ shown }) => shown !== null).length).to.be.above(30);
  });

  it('has no examples in chapters that are not run', async () => {
    const files = (await readdir(chapterPath(''))).filter((name) => name.endsWith('.md'));
    for (const name of files) {
      if (name === start || chapters.includes(name)) continue;
      expect(await readExamples(name), name).to.deep.equal([]);
    }
    expect(files).to.include.members([start, ...chapters]);
  });

  // spec/rating.md R60
  it('says of each code of a rejection what mends it', async () => {
    const text = await readFile(chapterPath('rejected.md'), 'utf8');
    const named = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
    expect(named).to.deep.equal([...usageRejectionCodes]);
  });
});
