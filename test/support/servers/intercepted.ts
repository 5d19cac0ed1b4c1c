import type { CDPSession, Page, Protocol } from 'puppeteer-core';

type Request = Protocol.Network.Request;

/**
 * Does something about the requests of a page, or lets them go on, until what is returned is called. By a
 * session of its own, whose end lets all go on: where `setRequestInterception` ends while the page asks,
 * Puppeteer waits forever for some answers.
 */
async function intercept(
  page: Page,
  act: (session: CDPSession, paused: Protocol.Fetch.RequestPausedEvent) => Promise<void>,
): Promise<() => Promise<void>> {
  const session = await page.createCDPSession();
  session.on('Fetch.requestPaused', (paused) => {
    // Behind its end, the request has gone on.
    act(session, paused).catch(() => undefined);
  });
  await session.send('Fetch.enable');
  return () => session.detach();
}

const goOn = async (session: CDPSession, requestId: string): Promise<void> => {
  await session.send('Fetch.continueRequest', { requestId });
};

/** Holds requests of a page; those that are held go on once what is returned is called. */
export const holdRequests = (
  page: Page,
  isHeld: (request: Request) => boolean,
): Promise<() => Promise<void>> =>
  intercept(page, async (session, { requestId, request }) => {
    if (!isHeld(request)) await goOn(session, requestId);
  });

/** Answers requests of a page with an error instead of asking, until what is returned is called. */
export const refuseRequests = (
  page: Page,
  isRefused: (request: Request) => boolean,
  responseCode: number,
  error: { readonly code: string; readonly message: string },
): Promise<() => Promise<void>> =>
  intercept(page, async (session, { requestId, request }) => {
    if (!isRefused(request)) return goOn(session, requestId);
    await session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode,
      responseHeaders: [{ name: 'Content-Type', value: 'application/json' }],
      body: Buffer.from(JSON.stringify({ error })).toString('base64'),
    });
  });
