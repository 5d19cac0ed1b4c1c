import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { launch, type Browser } from 'puppeteer-core';

/**
 * Switches of that package which would take away protections that a test is meant to see, or, as one
 * process for all does, a second browser context.
 */
const unwanted = ['--disable-web-security', '--allow-running-insecure-content', '--single-process'];

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
 * A real Chromium, brought by npm: nothing has to be installed on the machine. Where the machine
 * lacks its libraries, those of the package are used.
 */
export async function openBrowser(): Promise<Browser> {
  const options = {
    executablePath: await unpack(),
    args: chromium.args.filter((argument) => !unwanted.includes(argument)),
    headless: 'shell',
  } as const;
  const libraries = { LD_LIBRARY_PATH: join(tmpdir(), 'al2023', 'lib') };
  return launch(options).catch(() => launch({ ...options, env: { ...process.env, ...libraries } }));
}
