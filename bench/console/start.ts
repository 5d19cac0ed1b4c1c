import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/platform/free-port.js';
import { inTurn } from '../load.js';
import type { BenchRow } from '../result.js';
import type { Bench } from '../rows.js';
import { budgetRow } from './shown.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** How often each tree starts, in turn with the other. */
const rounds = 5;
/** What the console may add to a start, in seconds. */
const addedMax = 0.5;

/** What a start reads. */
const parts = ['bin', 'src', 'migrations', 'docs/guide', 'package.json', 'tsconfig.json'];

const kinds = [
  ['start', false, 'compiled before, with its data'],
  ['cold start', true, 'compiled anew over an empty folder'],
] as const;

/** A copy of what a start reads, with the console or without it. */
async function copyTree(withConsole: boolean): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'durabill-start-'));
  for (const part of parts) await cp(join(root, part), join(tree, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  if (!withConsole) {
    await rm(join(tree, 'src/console'), { recursive: true });
    const bundling = 'export const bundleConsoleBeside = () => undefined;\n';
    await writeFile(join(tree, 'bin/bundle-console.js'), bundling);
  }
  return tree;
}

/** An instance that `npm start` has begun, on data of its own. */
interface Started {
  /** From the command to the banner. */
  readonly seconds: number;
  /** With which commands find it. */
  readonly settings: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Resolves once a start has said that all is ready. */
const isReady = ({ stdout }: { readonly stdout: Readable }): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = '';
    stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Durabill is ready')) resolve();
    });
    stdout.once('end', () => reject(new Error(`The instance has ended: ${output}`)));
  });

/** Does what `npm start` does, in this tree. */
export async function startInstance(tree: string, dataDir: string): Promise<Started> {
  const { scripts } = JSON.parse(await readFile(join(tree, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const settings = { DATA_DIR: dataDir, PORT: String(await freePort()) };
  const { PATH, HOME } = process.env;
  const since = performance.now();
  const child = spawn('sh', ['-c', scripts.start], {
    cwd: tree,
    env: { PATH, HOME, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await isReady(child);
  const seconds = (performance.now() - since) / 1_000;
  return {
    seconds,
    settings,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
    },
  };
}

/** Starts of a tree: cold ones compile it and make their data, warm ones have both. */
async function startOnce(tree: string, isCold: boolean): Promise<number> {
  const dataDir = join(tree, 'data');
  if (isCold) {
    for (const made of ['dist', 'data'])
      await rm(join(tree, made), { recursive: true, force: true });
  }
  const instance = await startInstance(tree, dataDir);
  await instance.stop();
  return instance.seconds;
}

/** What the console adds to a start, each beside the start of a tree that has none. */
export async function measureStart({ tell }: Bench): Promise<BenchRow[]> {
  const trees = [await copyTree(true), await copyTree(false)] as const;
  const rows: BenchRow[] = [];
  try {
    // What is read for the first time is read by the other one, too.
    for (const tree of trees) await startOnce(tree, true);
    for (const [id, isCold, words] of kinds) {
      tell(`console: ${id}`);
      const { a, b } = await inTurn(
        rounds,
        () => startOnce(trees[0], isCold),
        () => startOnce(trees[1], isCold),
      );
      const measure = `from \`npm start\` to the banner, ${words}`;
      const floor = `s without it, and ${addedMax} s`;
      rows.push(budgetRow(id, a, 's', b + addedMax, measure, floor));
    }
  } finally {
    for (const tree of trees) await rm(tree, { recursive: true, force: true });
  }
  return rows;
}
