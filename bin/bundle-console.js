/**
 * Bundles the console where that is not done. A start runs this beside itself, with what is left of the
 * processors: its pages wait for it (docs/decisions/0469).
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const root = join(self, '../..');
const source = join(root, 'src/console');
/** In what `compile` makes, which is made anew where any source has changed. */
const bundled = join(root, 'dist/console');
/** Below everything that a start does, as low as it goes. */
const priority = 19;

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
async function bundleTo(target) {
  const { build } = await import('esbuild');
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

/** Bundles the console, unless that is done. Made under another name first: a folder that is there is complete. */
export async function bundleConsole() {
  if (existsSync(bundled)) return;
  const part = join(root, `dist.console.${process.pid}`);
  try {
    await bundleTo(part);
    await rename(part, bundled);
  } catch (error) {
    // Another process that was started at the same time may have been quicker.
    if (!existsSync(bundled)) throw error;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** The same in a process of its own, that nothing waits for. */
export function bundleConsoleBeside() {
  if (existsSync(bundled)) return;
  const child = spawn(process.execPath, [self], { stdio: ['ignore', 'ignore', 'inherit'] });
  // Its pages say that they are not there.
  child.on('error', ({ message }) => process.stderr.write(`durabill: no console: ${message}\n`));
  child.unref();
  if (child.pid !== undefined) setPriority(child.pid, priority);
}

if (process.argv[1] === self) await bundleConsole();
