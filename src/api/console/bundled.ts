import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import type { Context } from 'koa';
import { Problem, problem } from '../../kernel/problem.js';
import { revalidated, serveAsset, type Asset } from '../pages/asset.js';
import { isAskedForPage } from '../pages/front-page.js';
import { showPage } from '../pages/show-page.js';

/** A first start bundles within seconds; whoever waits longer asks again. */
const waitMs = 30_000;
/** How long a page that could not be shown waits until it asks again. */
const retrySeconds = 5;

/**
 * Resolves once the console is bundled to this folder, which a start that has compiled does beside itself
 * (docs/decisions/0469). Fails with 503 where it is not there after some time, in milliseconds.
 */
export async function untilBundled(folder: string, most = waitMs): Promise<void> {
  if (existsSync(folder)) return;
  const signal = AbortSignal.timeout(most);
  try {
    const watcher = watch(dirname(folder), { persistent: false });
    try {
      while (!existsSync(folder)) await once(watcher, 'change', { signal });
    } finally {
      watcher.close();
    }
  } catch {
    throw problem.unavailable(
      'The console is not bundled yet. Where the start has printed why, mend that; else try again.',
    );
  }
}

/**
 * Answers with a page of the bundle. A browser that waited for it in vain gets a page with status 503 that
 * asks again by itself; others get the error.
 */
export async function showBundled(ctx: Context, page: () => Promise<Asset>): Promise<void> {
  let asset: Asset;
  try {
    asset = await page();
  } catch (error) {
    const isEarly = error instanceof Problem && error.kind === 'unavailable';
    if (!isEarly || !isAskedForPage(ctx)) throw error;
    ctx.set('Refresh', String(retrySeconds));
    ctx.set('Cache-Control', 'no-store');
    showPage(ctx, 503, 'refusal', {
      title: 'Not bundled yet',
      message: error.message,
      advice: 'This page asks again by itself.',
    });
    return;
  }
  serveAsset(ctx, asset, revalidated);
}
