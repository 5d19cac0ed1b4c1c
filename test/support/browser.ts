import chromium from '@sparticuz/chromium';
import { launch, type Browser } from 'puppeteer-core';

/** Switches of that package which would take away protections that a test is meant to see. */
const unwanted = ['--disable-web-security', '--allow-running-insecure-content'];

/** A real Chromium, brought by npm: nothing has to be installed on the machine. */
export async function openBrowser(): Promise<Browser> {
  return launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((argument) => !unwanted.includes(argument)),
    headless: 'shell',
  });
}
