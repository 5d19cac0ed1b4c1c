import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'dist');
/** Runs in browsers: `bundleConsole` bundles it with what it uses of others. */
const consoleSources = join(root, 'src/console');
/** In the compiled folder: of which sources it was made. */
const stampName = '.sources';

/** What compiles, and which versions of others are bundled. */
const means = ['bin/compile.js', 'bin/bundle-console.js', 'package.json'];

/** The paths below src and a hash of what they hold and of what compiles them. */
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
  return { paths, stamp: hash.digest('hex') };
}

const isCompiledFrom = async (stamp) =>
  (await readFile(join(compiled, stampName), 'utf8').catch(() => '')) === stamp;

/**
 * Compiles src to dist, file by file and without the console, where dist is not of these sources; types
 * are checked by `npm run types` alone. Made under another name first: a folder that is there is complete.
 */
export async function compile() {
  const { paths, stamp } = await readSources();
  if (await isCompiledFrom(stamp)) return;
  const { build } = await import('esbuild');
  const part = `${compiled}.${process.pid}`;
  try {
    await mkdir(part);
    const served = paths.filter((path) => !path.startsWith(join(consoleSources, sep)));
    const others = served.filter((path) => !/\.[jt]s$/.test(path));
    for (const path of others) await cp(path, path.replace(join(root, 'src'), part));
    await build({
      entryPoints: served.filter((path) => /\.[jt]s$/.test(path)),
      outdir: part,
      outbase: join(root, 'src'),
      format: 'esm',
      platform: 'node',
      target: 'esnext',
      sourcemap: true,
      logLevel: 'warning',
    });
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
