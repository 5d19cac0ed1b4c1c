import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundle } from '@temporalio/worker';
import { defined } from '../kernel/defined.js';
import type { Logger } from '../platform/log.js';

const source = fileURLToPath(new URL('..', import.meta.url));
const extension = fileURLToPath(import.meta.url).slice(-3);
const workflowsPath = join(source, 'workflows', `index${extension}`);
const inRuntime = (name: string): string =>
  join(source, 'workflows', 'runtime', `${name}${extension}`);
/** The first one is the outermost. */
const interceptorPaths = ['tracing', 'hand-on-signature', 'interceptors'].map(inRuntime);

/** The source folders of workflow code; it may import no other. */
const bundled = ['workflows', 'interpreter', 'messages', 'kernel'];

async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const { resolve } = createRequire(import.meta.url);
  hash.update(await readFile(resolve('@temporalio/worker/package.json')));
  // Its package.json, which is not among its exports, has its version.
  hash.update(await readFile(join(dirname(resolve('@marcbachmann/cel-js')), '..', 'package.json')));
  for (const folder of bundled) {
    const names = await readdir(join(source, folder), { recursive: true });
    for (const name of names.filter((each) => /\.[jt]s$/.test(each)).sort()) {
      hash.update(`\0${folder}/${name}\0`).update(await readFile(join(source, folder, name)));
    }
  }
  return hash.digest('hex').slice(0, 32);
}

/**
 * Folders to cache a bundle in: beside the code, or, if that is read-only, the temporary folder.
 */
function cacheFolders(): string[] {
  return [
    join(dirname(source), 'node_modules', '.cache', 'durabill'),
    join(tmpdir(), `durabill-${process.getuid?.() ?? 'cache'}`),
  ];
}

const codeIn = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(() => undefined);

/** Writes atomically, by renaming a temporary file, so that no process reads a partial bundle. */
async function keepBundle(folder: string, name: string, code: string): Promise<boolean> {
  const part = join(folder, `${name}.${process.pid}.part`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(part, code);
    await rename(part, join(folder, name));
    return true;
  } catch {
    return false;
  }
}

/**
 * The bundled code of the workflows for the sandbox. Bundling takes seconds, so the result is
 * cached under a hash of all its sources. The failure converter, if there is one, is part of it.
 */
export async function loadWorkflowBundle(
  log: Logger,
  failureConverterPath?: string,
): Promise<WorkflowBundle> {
  const kind = failureConverterPath === undefined ? 'workflows' : 'sealed-workflows';
  const name = `${kind}-${await hashOfSources()}.js`;
  for (const folder of cacheFolders()) {
    const code = await codeIn(join(folder, name));
    if (code !== undefined) return { code };
  }
  const since = performance.now();
  const bundle = await bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: interceptorPaths,
    preloadModules: [inRuntime('shared-modules')],
    ...defined({ failureConverterPath }),
    logger: {
      log: () => undefined,
      trace: () => undefined,
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => log.warn(message),
      error: (message) => log.error(message),
    },
  });
  log.debug({ ms: Math.round(performance.now() - since) }, 'bundled the workflows');
  for (const folder of cacheFolders()) if (await keepBundle(folder, name, bundle.code)) break;
  return bundle;
}
