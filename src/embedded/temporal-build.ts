import { spawn } from 'node:child_process';
import { access, constants, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../platform/config/config.js';
import { onSearchPath, type FetchOptions } from './search-path.js';

/** Roughly how many Go packages there are to compile, for the percentage only. */
const PACKAGES = 1300;

/** Names the module and, with the sums of all that it is made of, what may be downloaded for it. */
const moduleFolder = fileURLToPath(new URL('../../deploy/temporal-program', import.meta.url));

/**
 * Builds the Temporal command line from its Go module: two to five minutes, once. Go refuses every
 * module whose sum is not that of the committed go.sum (docs/decisions/0207).
 */
export async function buildWithGo(folder: string, options: FetchOptions): Promise<string> {
  const go = await findGo(options.searchPath);
  if (go === undefined) throw new Error('Go is not installed');
  const started = Date.now();
  for (const name of ['go.mod', 'go.sum']) await cp(join(moduleFolder, name), join(folder, name));
  let doing = 'downloading modules';
  let compiled = 0;
  let lastLine = '';
  const tell = (): void => {
    const seconds = Math.round((Date.now() - started) / 1000);
    const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    options.onProgress(
      `building the Temporal server with Go, once, about 3 to 5 minutes: ${elapsed}, ${doing}`,
    );
  };
  tell();
  const ticker = setInterval(tell, 1000);
  try {
    await runGo(go, folder, options, (line) => {
      lastLine = line;
      const module = /^go: downloading (\S+)/.exec(line)?.[1];
      if (module !== undefined) doing = `downloading ${module}`;
      else if (/^[a-z0-9.-]+(\/\S+)*$/i.test(line)) {
        compiled += 1;
        const percent = Math.min(99, Math.floor((100 * compiled) / PACKAGES));
        doing = `${percent} %, compiling ${line}`;
      }
    });
  } catch (error) {
    throw lastLine === '' ? error : new Error(lastLine, { cause: error });
  } finally {
    clearInterval(ticker);
  }
  return join(folder, process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}

async function runGo(
  go: string,
  folder: string,
  { version, abort }: FetchOptions,
  onLine: (line: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      go,
      [
        'build',
        '-v',
        '-mod=readonly',
        '-trimpath',
        '-o',
        folder,
        `-ldflags=-s -w -X github.com/temporalio/cli/temporalcli.Version=${version.slice(1)}`,
        'github.com/temporalio/cli/cmd/temporal',
      ],
      {
        cwd: folder,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: childEnvironment({ GOFLAGS: '', GOWORK: 'off', CGO_ENABLED: '0' }),
        // A group of its own, so that the compilers that it starts end with it.
        detached: true,
      },
    );
    const stop = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    };
    abort.addEventListener('abort', stop, { once: true });
    let rest = '';
    child.stderr.on('data', (chunk: Buffer) => {
      const lines = `${rest}${chunk.toString()}`.split('\n');
      rest = lines.pop() ?? '';
      lines.filter((line) => line.trim() !== '').forEach(onLine);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      abort.removeEventListener('abort', stop);
      if (code === 0) resolve();
      else reject(new Error(`go build ended with ${code ?? 'a signal'}`));
    });
  });
}

async function findGo(searchPath: string): Promise<string | undefined> {
  for (const path of [...onSearchPath('go', searchPath), '/usr/local/go/bin/go']) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
