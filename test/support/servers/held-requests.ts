import type { HTTPRequest, Page } from 'puppeteer-core';

/** Holds requests of a page; those that are held go on once what is returned is called. */
export async function holdRequests(
  page: Page,
  isHeld: (request: HTTPRequest) => boolean,
): Promise<() => Promise<void>> {
  const held: HTTPRequest[] = [];
  const hold = (request: HTTPRequest): void => {
    if (isHeld(request)) held.push(request);
    else void request.continue();
  };
  await page.setRequestInterception(true);
  page.on('request', hold);
  return async () => {
    page.off('request', hold);
    for (const request of held) await request.continue();
    await page.setRequestInterception(false);
  };
}
