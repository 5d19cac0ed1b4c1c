import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'dist');
/** Runs in browsers: `bundleConsole` bundles it with what it uses of others. */
const consoleSources = join(root, 'src/console');
/** In the compiled folder: of which sources it was made. */
const stampName = '.sources';

/** What compiles, and which versions of others are bundled. */
const means = ['bin/compile.js', 'bin/bundle-console.js', 'package.json'];

/** Of packages, those of many small files which no other one and no thread shares with the program. */
const bundledPackages = [
  '@koa/cors',
  '@koa/router',
  'ajv',
  'ajv-formats',
  'commander',
  'jose',
  'knex',
  'koa',
  'koa-body',
  'lru-cache',
  'objection',
  'pg',
  'typebox',
];

/** What those ask for where it is there, and do without where not. */
const optionalPackages = [
  'better-sqlite3',
  'mariadb',
  'mysql',
  'mysql2',
  'oracledb',
  'pg-native',
  'pg-query-stream',
  'sqlite3',
  'tedious',
];

const alike = {
  format: 'esm',
  platform: 'node',
  target: 'esnext',
  sourcemap: true,
  logLevel: 'warning',
};

const withSlashes = (path) => path.replaceAll(sep, '/');

/** A file that looks for what is beside it finds it from the bundle, too, and the image has no embedded servers. */
const asBefore = (paths) => ({
  name: 'as-before',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: pathsAmong(paths) }, async ({ path }) => {
      const name = `../${withSlashes(relative(join(root, 'src'), path)).replace(/ts$/, 'js')}`;
      const text = await readFile(path, 'utf8');
      const contents = text
        .replaceAll('import.meta.url', `new URL('${name}', import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(name)}')`);
      return { contents, loader: 'ts' };
    });
    onResolve({ filter: /\/embedded\// }, ({ path }) =>
      existsSync(join(root, 'src/embedded')) ? undefined : { path, external: true },
    );
  },
});

const pathsAmong = (paths) =>
  new RegExp(`(${paths.map((path) => path.replace(/[^\w/]/g, '\\$&')).join('|')})$`);

/**
 * The command line and all that it calls as one program of few files: to read some 2,500 takes longer than all
 * else that most commands do, and a third of a start (docs/decisions/0531).
 */
async function bundleProgram(build, { part, placed }) {
  const { dependencies = {} } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const external = Object.keys(dependencies).filter((name) => !bundledPackages.includes(name));
  await build({
    entryPoints: [join(root, 'src/cli/main.ts')],
    outdir: join(part, 'program'),
    bundle: true,
    splitting: true,
    external: [...external, ...optionalPackages],
    ...alike,
    sourcesContent: false,
    plugins: placed.length > 0 ? [asBefore(placed)] : [],
    // With it, CommonJS asks for what Node has itself.
    banner: {
      js: `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`,
    },
  });
}

/** The paths below src, those that look for what is beside them, and a hash of what all hold and of what compiles. */
async function readSources() {
  const hash = createHash('sha256');
  for (const path of means) hash.update(await readFile(join(root, path)));
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const texts = await Promise.all(paths.map((path) => readFile(path)));
  paths.forEach((path, index) => hash.update(`\0${path}\0`).update(texts[index]));
  const placed = paths.filter((_, index) => texts[index].includes('import.meta.'));
  return { paths, placed, stamp: hash.digest('hex') };
}

const isCompiledFrom = async (stamp) =>
  (await readFile(join(compiled, stampName), 'utf8').catch(() => '')) === stamp;

/**
 * Compiles src to dist where dist is not of these sources: without the console, file by file, for workflows, threads
 * and processes that have a file of their own, and as one program. Types are checked by `npm run types` alone. Made
 * under another name first: a folder that is there is complete.
 */
export async function compile() {
  const { paths, placed, stamp } = await readSources();
  if (await isCompiledFrom(stamp)) return;
  const { build } = await import('esbuild');
  const part = `${compiled}.${process.pid}`;
  try {
    await mkdir(part);
    const served = paths.filter((path) => !path.startsWith(join(consoleSources, sep)));
    const others = served.filter((path) => !/\.[jt]s$/.test(path));
    for (const path of others) await cp(path, path.replace(join(root, 'src'), part));
    await Promise.all([
      build({
        entryPoints: served.filter((path) => /\.[jt]s$/.test(path)),
        outdir: part,
        outbase: join(root, 'src'),
        ...alike,
      }),
      bundleProgram(build, { part, placed }),
    ]);
    await writeFile(join(part, stampName), stamp);
    await rename(part, compiled).catch(async () => {
      // Sources of before, or another process that was quicker.
      if (await isCompiledFrom(stamp)) return;
      await rename(compiled, `${part}.old`).catch(() => undefined);
      await rename(part, compiled);
    });
  } catch (error) {
    // Another process that was started at the same time may have been quicker.
    if (!(await isCompiledFrom(stamp))) throw error;
  } finally {
    for (const path of [part, `${part}.old`]) await rm(path, { recursive: true, force: true });
  }
}
