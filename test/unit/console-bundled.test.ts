import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Koa from 'koa';
import request from 'supertest';
import { showBundled, untilBundled } from '../../src/api/console/bundled.js';
import { Problem } from '../../src/kernel/problem.js';
import { assetOf } from '../../src/api/pages/asset.js';

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

  it('are a page that asks again by itself to a browser, and an error to others', async () => {
    let isBundled = false;
    const target = join(folder, 'console');
    const app = new Koa();
    app.use(async (ctx) => {
      try {
        await showBundled(ctx, async () => {
          if (!isBundled) await untilBundled(target, 20);
          return assetOf('text/html', 'The console');
        });
      } catch (error) {
        ctx.status = error instanceof Problem ? error.status : 500;
        ctx.body = { kind: error instanceof Problem ? error.kind : 'unknown' };
      }
    });
    const ask = (accepted: string) => request(app.callback()).get('/').set('Accept', accepted);
    const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const early = await ask(browser).expect(503);
    expect(early.headers).to.include({ refresh: '5', 'cache-control': 'no-store' });
    expect(early.text).to.include('This page asks again by itself.').and.include('not bundled yet');
    expect((await ask('application/json').expect(503)).body).to.deep.equal({ kind: 'unavailable' });
    isBundled = true;
    expect((await ask(browser).expect(200)).text).to.equal('The console');
  });
});
