import { readFile } from 'node:fs/promises';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { assetOf, lazy, revalidated, serveAsset } from '../pages/asset.js';
import { protectPage } from '../pages/show-page.js';
import { chapters, images } from './chapters.js';
import { renderChapter } from './render-chapter.js';

/** The same place from `src` and from `dist`. */
const folder = new URL('../../../docs/guide/', import.meta.url);
const readAsset = (file: string): Promise<string> => readFile(new URL(file, folder), 'utf8');

/** An image that is opened alone, or by a page, styles itself and loads nothing. */
const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/**
 * The guide, `docs/guide`, as pages for everybody. Each is made when it is first asked for, and then
 * kept: there are as many as there are chapters, and any other address leads nowhere.
 */
export function mountGuide(router: Router): void {
  for (const chapter of chapters) {
    const page = lazy(async () =>
      assetOf('text/html; charset=utf-8', renderChapter(chapter, await readAsset(chapter.file))),
    );
    router.get(chapter.path, async (ctx: Context) => {
      const asset = await page();
      protectPage(ctx, 'guide');
      serveAsset(ctx, asset, revalidated);
    });
  }
  for (const name of images) {
    const image = lazy(async () => assetOf('image/svg+xml', await readAsset(name)));
    router.get(`/docs/guide/${name}`, async (ctx: Context) => {
      const asset = await image();
      ctx.set('Content-Security-Policy', imagePolicy);
      serveAsset(ctx, asset, revalidated);
    });
  }
}
