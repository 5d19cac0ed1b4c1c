import { spawn } from 'node:child_process';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { childEnvironment } from '../../src/platform/config/config.js';
import { onSearchPath } from '../../src/embedded/search-path.js';
import { StartupError } from '../../src/platform/startup-error.js';

/** The releases that this version is tested with; docker-compose.yml names the same. */
export const temporalServerVersion = '1.32.1';
export const kafkaVersion = '4.3.1';
const kafkaLogVersion = '2.25.4';

export interface Fetching {
  readonly cacheDir: string;
  readonly searchPath: string;
  readonly tell: (text: string) => void;
  readonly signal: AbortSignal;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function findProgram(name: string, searchPath: string, need: string): Promise<string> {
  for (const path of onSearchPath(name, `${searchPath}:/usr/local/go/bin`)) {
    if (await isThere(path)) return path;
  }
  throw new StartupError(`npm run test:production needs ${need}: there is no ${name} on the PATH.`);
}

interface RunOptions {
  readonly cwd: string;
  readonly env?: Record<string, string>;
  readonly signal: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** Runs a program to its end, at low priority; rejects with what it said last when it fails. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, signal, onLine = () => undefined }: RunOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('nice', ['-n', '15', program, ...args], {
      cwd,
      env: childEnvironment(env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stop = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    };
    signal.addEventListener('abort', stop, { once: true });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000);
        for (const line of chunk.toString().split('\n')) if (line.trim() !== '') onLine(line);
      });
    }
    child.once('error', reject);
    child.once('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (code === 0) resolve(output.trim());
      else reject(new StartupError(`${program} ${args[0] ?? ''} failed: ${output.slice(-600)}`));
    });
  });
}

/** Fetches into a folder beside the cached one first, so that what is in the cache is complete. */
async function cached(folder: string, fetch: (part: string) => Promise<void>): Promise<string> {
  if (await isThere(folder)) return folder;
  const part = `${folder}.part-${process.pid}`;
  try {
    await mkdir(part, { recursive: true });
    await fetch(part);
    await rename(part, folder);
    return folder;
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** A folder with `server` and `sql`, Temporal's server and the tool for its schema. */
export async function findTemporalServer(fetching: Fetching): Promise<string> {
  const { cacheDir, searchPath, tell, signal } = fetching;
  return cached(join(cacheDir, `temporal-server-${temporalServerVersion}`), async (part) => {
    const go = await findProgram('go', searchPath, 'Go 1.26 or newer');
    const since = Date.now();
    let packages = 0;
    const ticker = setInterval(() => {
      const seconds = Math.round((Date.now() - since) / 1000);
      tell(`Temporal server: building it with Go, once: ${seconds} s, ${packages} packages`);
    }, 10_000);
    try {
      const module = 'go.temporal.io/server/cmd';
      const names = ['server', 'tools/sql'].map(
        (name) => `${module}/${name}@v${temporalServerVersion}`,
      );
      await runProgram(go, ['install', '-v', '-trimpath', '-ldflags=-s -w', ...names], {
        cwd: part,
        signal,
        env: { GOBIN: part, GOFLAGS: '', CGO_ENABLED: '0' },
        onLine: () => (packages += 1),
      });
    } finally {
      clearInterval(ticker);
    }
  });
}

/** A folder with the jars of Kafka. */
export async function findKafka({ cacheDir, searchPath, tell, signal }: Fetching): Promise<string> {
  const folder = await cached(join(cacheDir, `kafka-${kafkaVersion}`), async (part) => {
    const maven = await findProgram('mvn', searchPath, 'Maven');
    tell('Kafka: getting it from Maven Central, once');
    const dependency = (group: string, artifact: string, version: string) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId>` +
      `<version>${version}</version></dependency>`;
    await writeFile(
      join(part, 'pom.xml'),
      '<project><modelVersion>4.0.0</modelVersion><groupId>durabill</groupId>' +
        '<artifactId>kafka</artifactId><version>1</version><dependencies>' +
        dependency('org.apache.kafka', 'kafka_2.13', kafkaVersion) +
        dependency('org.apache.logging.log4j', 'log4j-slf4j-impl', kafkaLogVersion) +
        '</dependencies></project>',
    );
    const goal = ['-B', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=libs'];
    await runProgram(maven, goal, { cwd: part, signal });
  });
  return join(folder, 'libs');
}

/** Java 17 or newer. */
export async function findJava({ searchPath, signal, cacheDir }: Fetching): Promise<string> {
  const java = await findProgram('java', searchPath, 'Java 17 or newer');
  const version = await runProgram(java, ['-version'], { cwd: cacheDir, signal });
  const major = Number(/version "(\d+)/.exec(version)?.[1]);
  if (major >= 17) return java;
  throw new StartupError(`npm run test:production needs Java 17 or newer; ${java} is ${major}.`);
}
