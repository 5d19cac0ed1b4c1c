import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type Router from '@koa/router';
import type { Context } from 'koa';
import packageJson from '../../../package.json' with { type: 'json' };
import { referenceData } from '../../kernel/reference-data.js';
import { modules, operations } from '../../schemas/index.js';
import { describeApi } from '../../schemas/openapi/openapi.js';
import type { Operation } from '../../schemas/http/operation.js';
import { faultExample } from '../fault-example.js';
import { assetOf, lazy, revalidated, serveAsset } from './asset.js';

/** What each operation has answered in the story of `npm run record-answers`. */
const recordedAnswers = new URL('../../schemas/openapi/answers.json', import.meta.url);

/** The OpenAPI document of this version; the picklists must have been loaded. */
export function openApiDocument(): object {
  const declared = Object.values(operations).flatMap((ofResource) =>
    Object.values<Operation>(ofResource),
  );
  return describeApi(declared, modules, {
    version: packageJson.version,
    picklist: (name) => referenceData.picklistValueNames(name),
    answers: JSON.parse(readFileSync(recordedAnswers, 'utf8')) as Record<string, unknown>,
    fault: faultExample,
  });
}

const scalarVersion: string = packageJson.dependencies['@scalar/api-reference'];
const scalarPath = `/docs/scalar-${scalarVersion}.js`;

/** Scalar asks other hosts for fonts, statistics, a proxy and an agent unless it is told not to. */
const settings = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  authentication: { preferredSecurityScheme: 'bearer' },
};
const startScript = `Scalar.createApiReference('#app', ${JSON.stringify(settings)});\n`;

const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Durabill API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="app"></div>
    <noscript>The document itself: <a href="/openapi.json">/openapi.json</a></noscript>
    <script src="${scalarPath}"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** The page runs only scripts of this origin and talks to nobody else; Scalar styles inline. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const immutable = 'public, max-age=31536000, immutable';

/** The OpenAPI document and the page that shows it, all from this machine. */
export function mountDocs(router: Router): void {
  const javascript = 'text/javascript; charset=utf-8';
  const document = lazy(() =>
    assetOf('application/json; charset=utf-8', JSON.stringify(openApiDocument())),
  );
  const html = lazy(() => assetOf('text/html; charset=utf-8', page));
  const start = lazy(() => assetOf(javascript, startScript));
  const scalar = lazy(async () => {
    const entry = createRequire(import.meta.url).resolve('@scalar/api-reference');
    const file = new URL('browser/standalone.js', `file://${entry}`);
    return assetOf(javascript, await readFile(file));
  });
  router.get('/openapi.json', async (ctx: Context) =>
    serveAsset(ctx, await document(), revalidated),
  );
  router.get('/docs', async (ctx: Context) => {
    ctx.set('Content-Security-Policy', pagePolicy);
    serveAsset(ctx, await html(), revalidated);
  });
  router.get('/docs/start.js', async (ctx: Context) => serveAsset(ctx, await start(), revalidated));
  router.get(scalarPath, async (ctx: Context) => serveAsset(ctx, await scalar(), immutable));
}
