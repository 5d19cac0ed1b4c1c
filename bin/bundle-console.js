import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The page of every address below /console: it names its files, whose names say what they hold. */
const pageOf = ({ script, style, icon }) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <meta name="color-scheme" content="light dark">
    <title>Durabill console</title>
    <link rel="icon" href="/console/assets/${icon}" type="image/svg+xml">
    <link rel="stylesheet" href="/console/assets/${style}">
    <script type="module" src="/console/assets/${script}"></script>
  </head>
  <body>
    <div id="root"></div>
    <noscript>The console needs JavaScript. All that it shows is in the <a href="/docs">API</a>, too.</noscript>
  </body>
</html>
`;

/** Bundles the console: one file for what every page needs, one for each page of its own. */
export async function bundleConsole(build, source, target) {
  const { metafile } = await build({
    entryPoints: { console: join(source, 'main.tsx'), icon: join(source, 'style/icon.svg') },
    outdir: join(target, 'assets'),
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    metafile: true,
    jsx: 'automatic',
    tsconfig: join(source, 'tsconfig.json'),
    // What has `light-dark()`, and runs `Intl.NumberFormat` on text without loss.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    define: { 'process.env.NODE_ENV': '"production"' },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy' },
    legalComments: 'none',
    logLevel: 'warning',
  });
  const made = Object.keys(metafile.outputs).map((path) => basename(path));
  const find = (form) => made.find((name) => form.test(name));
  await mkdir(target, { recursive: true });
  await writeFile(
    join(target, 'index.html'),
    pageOf({
      script: find(/^console-.*\.js$/),
      style: find(/^console-.*\.css$/),
      icon: find(/^icon-.*\.svg$/),
    }),
  );
}
