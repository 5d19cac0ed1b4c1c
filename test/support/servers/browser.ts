import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { defaultArgs, launch, type Browser, type Target } from 'puppeteer-core';
import { alone } from './servers.js';

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

/** The package brings the libraries of a bare system too, but unpacks them only where it sees this. */
const marker = 'AWS_EXECUTION_ENV';

async function unpack(): Promise<string> {
  const given = process.env[marker];
  process.env[marker] = 'AWS_Lambda_nodejs22.x';
  try {
    return await chromium.executablePath();
  } finally {
    if (given === undefined) Reflect.deleteProperty(process.env, marker);
    else process.env[marker] = given;
  }
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
  // A program that another process is still writing cannot be run.
  const program = await alone(unpack);
  const own = chromium.args.filter((argument) => !unwanted.includes(argument));
  const args = defaultArgs({ args: [...own, '--disable-gpu'], headless: 'shell' });
  const options = {
    ignoreDefaultArgs: true,
    ...(canStepBack
      ? { executablePath: setpriv, args: [...withoutPriority, program, ...args] }
      : { executablePath: program, args }),
  };
  const libraries = { LD_LIBRARY_PATH: join(tmpdir(), 'al2023', 'lib') };
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
