import { expect } from 'chai';
import type { Story } from '../story/story.js';
import { openBrowser } from './browser.js';
import { buildConsole, signIn, visitConsole, type ConsoleVisit } from './console.js';

/**
 * Opens the console in a browser before the tests of a file, signed in as the story's tenant, and
 * closes it behind them; a test in which the browser complains, or asks another origin for anything,
 * fails. Call it after the hook that fills the tenant.
 */
export function useConsole(story: Story, opened: (visit: ConsoleVisit) => void): void {
  let visit: ConsoleVisit;
  let close: () => Promise<void>;
  before(async () => {
    await buildConsole();
    const browser = await openBrowser();
    close = () => browser.close();
    visit = await visitConsole(browser, story.instance);
    opened(visit);
    await signIn(visit, story.instance, story.tenant.token);
    await visit.arrive('Accounts');
  });
  after(async () => {
    await visit.close();
    await close();
  });
  beforeEach(() => {
    visit.complaints.splice(0);
    visit.requested.splice(0);
  });
  // spec/beyond.md R360
  afterEach(() => {
    expect(visit.complaints).to.deep.equal([]);
    expect(visit.requested.filter((url) => !isOf(story.instance.url, url))).to.deep.equal([]);
  });
}

/** What a page has itself (a file to keep, a picture of the browser's own) is asked of nobody. */
const isOf = (origin: string, url: string): boolean =>
  url.startsWith(`${origin}/`) || url.startsWith(`blob:${origin}/`) || url.startsWith('data:');
