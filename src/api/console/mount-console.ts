import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { problem } from '../../kernel/problem.js';
import type { Platform } from '../../process/platform.js';
import { assetOf, lazy, revalidated, serveAsset, type Asset } from '../pages/asset.js';
import { showBundled, untilBundled } from './bundled.js';
import { mountDemoYear, type FillYear } from './demo-year.js';
import { mountSession } from './session.js';
import { mountSignIn } from './sign-in.js';

/** What `bin/bundle-console.js` makes, beside the compiled code. */
const built = join(import.meta.dirname, '../../../dist/console');

/** One wait for all who ask before it is there. */
const whenBuilt = lazy(() => untilBundled(built));

/** Scripts, styles and pictures of this instance alone, and nothing that stands in a page. */
const policyWith = (...frames: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    ...frames,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');

/** No page frames the console; it frames the embed, where somebody tries it. */
const policy = policyWith("frame-src 'self'", "frame-ancestors 'none'");

const immutable = 'public, max-age=31536000, immutable';

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the bundle by their names, each read when it is first asked for. */
function readAssets(): ReadonlyMap<string, () => Promise<Asset>> {
  const names = readdirSync(join(built, 'assets')).flatMap((name) => {
    const type = types[/\.[a-z]+$/.exec(name)?.[0] ?? ''];
    return type === undefined ? [] : [{ name, type }];
  });
  return new Map(
    names.map(({ name, type }) => [
      name,
      lazy(async () => assetOf(type, await readFile(join(built, 'assets', name)))),
    ]),
  );
}

/**
 * The page that a tenant's customers see, in a frame of this origin and of those that may call the API
 * (spec/beyond.md R428). It has no cookie: its token is in the address behind `#`, which is sent nowhere.
 */
function mountEmbed(
  router: Router,
  { config: { corsOrigins = [] } }: Platform,
  page: () => Promise<Asset>,
): void {
  const ownPolicy = policyWith(`frame-ancestors 'self' ${corsOrigins.join(' ')}`.trim());
  router.get('/embed', async (ctx: Context) => {
    ctx.set('Content-Security-Policy', ownPolicy);
    // The same in a form that knows no other origins.
    ctx.remove('X-Frame-Options');
    // Else a page that frames it under a policy of its own could not.
    ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
    serveAsset(ctx, await page(), revalidated);
  });
}

/** The console at `/console`: its page at every address below it, and its files (spec/beyond.md R360). */
export function mountConsole(router: Router, platform: Platform, fillYear?: FillYear): void {
  mountSession(router, platform);
  mountDemoYear(router, platform, fillYear);
  mountSignIn(router, platform);
  let assets: ReturnType<typeof readAssets> | undefined;
  router.get('/console/assets/:name', async (ctx: Context) => {
    await whenBuilt();
    assets ??= readAssets();
    const { name = '' } = (ctx as unknown as { params: { name?: string } }).params;
    const asset = assets.get(name);
    if (!asset) throw problem.notFound(`The console has no file '${name}'.`);
    serveAsset(ctx, await asset(), immutable);
  });
  const pageOf = (name: string): (() => Promise<Asset>) =>
    lazy(async () => {
      await whenBuilt();
      return assetOf('text/html; charset=utf-8', await readFile(join(built, name)));
    });
  const page = pageOf('index.html');
  const show = async (ctx: Context): Promise<void> => {
    ctx.set('Content-Security-Policy', policy);
    await showBundled(ctx, page);
  };
  router.get('/console', show);
  // Not below assets: what is no file there is no page either.
  router.get(/^\/console\/(?!assets(?:\/|$)|demo-year$|session$|sign-in$|signed-in$).*$/, show);
  mountEmbed(router, platform, pageOf('embed.html'));
}
