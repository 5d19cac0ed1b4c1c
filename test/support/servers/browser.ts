import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import chromium from '@sparticuz/chromium';
import { defaultArgs, launch, type Browser, type Target } from 'puppeteer-core';

const run = promisify(execFile);

/**
 * Switches of that package which would take away protections that a test is meant to see, or, as one
 * process for all does, a second browser context. Those of its graphics compute what a GPU would draw,
 * which takes a third of the processor time of a page (docs/decisions/0476).
 */
const unwanted = [
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--single-process',
  '--no-zygote',
  '--in-process-gpu',
  '--ignore-gpu-blocklist',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
];

/** Where a browser lies that is whole, and the libraries of a bare system beside it. */
const place = join(tmpdir(), 'durabill-chromium');

/** The package unpacks into the temporary folder it is told; the libraries only where it sees the mark of a bare system. */
const unpackThere = `import('@sparticuz/chromium').then((module) => module.default.executablePath())`;

/**
 * Unpacks it beside its place and moves it there whole: a program that another process, of this run of tests or
 * of one beside it, is still writing cannot be run.
 */
async function unpack(): Promise<string> {
  const program = join(place, 'chromium');
  if (existsSync(program)) return program;
  const beside = await mkdtemp(`${place}-`);
  const env = { ...process.env, TMPDIR: beside, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
  await run(process.execPath, ['--eval', unpackThere], { env });
  try {
    await rename(beside, place);
  } catch {
    // Another process was quicker.
    await rm(beside, { recursive: true });
  }
  return program;
}

/**
 * Root's Chromium takes the processors before everybody else, servers that it waits for among them:
 * without this right it has its turn like every program.
 */
const withoutPriority = ['--inh-caps', '-sys_nice', '--bounding-set', '-sys_nice'];

const setpriv = '/usr/bin/setpriv';
const canStepBack =
  process.getuid?.() === 0 && spawnSync(setpriv, [...withoutPriority, 'true']).status === 0;

/** How long a page has for what a test waits for: browsers of several tests share two processors. */
export const foundMs = 60_000;

/**
 * A real Chromium, brought by npm: nothing has to be installed on the machine. Where the machine
 * lacks its libraries, those of the package are used.
 */
export async function openBrowser(): Promise<Browser> {
  const program = await unpack();
  const own = chromium.args.filter((argument) => !unwanted.includes(argument));
  const args = defaultArgs({ args: [...own, '--disable-gpu'], headless: 'shell' });
  const options = {
    ignoreDefaultArgs: true,
    ...(canStepBack
      ? { executablePath: setpriv, args: [...withoutPriority, program, ...args] }
      : { executablePath: program, args }),
  };
  const libraries = { LD_LIBRARY_PATH: join(place, 'al2023', 'lib') };
  const browser = await launch(options).catch(() =>
    launch({ ...options, env: { ...process.env, ...libraries } }),
  );
  browser.on('targetcreated', (target: Target) => {
    // A page may be gone before it is known.
    void target.page().then(
      (page) => page?.setDefaultTimeout(foundMs),
      () => undefined,
    );
  });
  return browser;
}
