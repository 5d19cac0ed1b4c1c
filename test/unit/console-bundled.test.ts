import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { untilBundled } from '../../src/api/console/bundled.js';

// spec/beyond.md R589
describe('pages of the console that is not bundled yet', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-bundled-'));
  });
  afterEach(async () => rm(folder, { recursive: true, force: true }));

  it('wait until its folder is there', async () => {
    const target = join(folder, 'console');
    const waited = untilBundled(target, 30_000);
    await writeFile(join(folder, 'another'), '');
    await mkdir(join(folder, 'part'));
    await rename(join(folder, 'part'), target);
    await waited;
    await untilBundled(target, 0);
  });

  it('wait no longer than they are to, and fail with 503', async () => {
    for (const target of [join(folder, 'console'), join(folder, 'nowhere/console')]) {
      const failure = await untilBundled(target, 20).catch((error: unknown) => error);
      expect(failure).to.deep.include({ kind: 'unavailable' });
    }
  });
});
