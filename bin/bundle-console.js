import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** A page that a script fills: it names its files, whose names say what they hold. */
const pageOf = ({ title, script, style, icon, without }) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <meta name="color-scheme" content="light dark">
    <title>${title}</title>
    <link rel="icon" href="/console/assets/${icon}" type="image/svg+xml">
    <link rel="stylesheet" href="/console/assets/${style}">
    <script type="module" src="/console/assets/${script}"></script>
  </head>
  <body>
    <div id="root"></div>
    <noscript>${without}</noscript>
  </body>
</html>
`;

/** The page of every address below /console, and the one that others show in a frame. */
const pages = {
  index: {
    name: 'console',
    title: 'Durabill console',
    without:
      'The console needs JavaScript. All that it shows is in the <a href="/docs">API</a>, too.',
  },
  embed: {
    name: 'embed',
    title: 'Usage and invoices',
    without: 'This page needs JavaScript.',
  },
};

/** Bundles the console and the embed: one file for what every page needs, one for each of its own. */
export async function bundleConsole(build, source, target) {
  const { metafile } = await build({
    entryPoints: {
      console: join(source, 'main.tsx'),
      embed: join(source, 'embed/main.tsx'),
      icon: join(source, 'style/icon.svg'),
    },
    outdir: join(target, 'assets'),
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    charset: 'utf8',
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
  for (const [file, { name, ...page }] of Object.entries(pages)) {
    const script = find(new RegExp(`^${name}-[A-Z0-9]{8}\\.js$`));
    const style = find(new RegExp(`^${name}-[A-Z0-9]{8}\\.css$`));
    await writeFile(
      join(target, `${file}.html`),
      pageOf({ ...page, script, style, icon: find(/^icon-.*\.svg$/) }),
    );
  }
}
