import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type { ConsoleVisit } from '../support/servers/console.js';
import { ok, openReceiver, type Receiver } from '../support/servers/receiver.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** A receiver that was away: what did not arrive is seen, understood, and sent again. */
describe('webhooks in the console', function () {
  this.timeout(240_000);
  const story = useStory({
    isPublic: true,
    // One attempt: what fails has failed.
    webhooks: { delaysMs: [0], timeoutMs: 1_000 },
  });
  let visit: ConsoleVisit;
  let receiver: Receiver;
  before(async () => {
    receiver = await openReceiver();
  });
  after(() => receiver.close());
  useConsole(story, (opened) => {
    visit = opened;
  });

  it('says what registers a webhook where there is none', async () => {
    await visit.open('/console/webhooks', 'Webhooks');
    await visit.told('Nothing is told to anybody yet.');
    await visit.inspect('webhooks-none');
  });

  // spec/beyond.md R379
  it('shows what failed and why, and sends it again', async () => {
    receiver.answer = (_request, response) => void response.writeHead(500).end('We are closed.');
    const { url } = receiver;
    const body = { url, events: ['invoice.posted'], secret: 'a secret of some length' };
    const { body: made } = await story.tenant.post('/v1/webhooks', body).expect(201);
    await visit.open('/console/webhooks', 'Webhooks');
    await visit.find('table', 'Webhooks');
    await visit.inspect('webhooks');
    await visit.tabTo(url);
    await visit.page.keyboard.press('Enter');
    await visit.arrive(url);
    await visit.told('Nothing was sent in the last 30 days.');
    await visit.tabTo('Send a test event');
    await visit.page.keyboard.press('Enter');
    await visit.told('It is pending.');
    await visit.open(`/console/webhooks/${made.id}?status=failed`, url);
    await visit.told('The answer was 500.');
    await visit.inspect('webhook-failed');
    receiver.answer = ok;
    await visit.tabTo('Send again');
    await visit.page.keyboard.press('Enter');
    await visit.told('There is none of these.');
    await visit.told(' is pending.');
    await visit.open(`/console/webhooks/${made.id}?status=delivered`, url);
    await visit.told('answered with 204');
    // spec/beyond.md R435
    expect(await visit.text()).to.not.match(/Send all/);
    await visit.inspect('webhook');
  });

  // spec/beyond.md R475
  it('keeps the focus when a filter is shown, and shows what the address says', async () => {
    const { body: list } = await story.tenant.get('/v1/webhooks').expect(200);
    const { id, url } = (list.data as { id: string; url: string }[])[0] ?? expect.fail('none');
    const { page } = visit;
    const focused = () =>
      page.evaluate('[document.activeElement.textContent, document.activeElement.value].join()');
    await visit.open(`/console/webhooks/${id}`, url);
    await visit.tabTo('Event');
    await page.keyboard.type('webhook.test');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.search.includes('webhook.test')`);
    await visit.quiet();
    expect(await focused()).to.equal(',webhook.test');
    await page.keyboard.type('s');
    await visit.tabTo('Show');
    await page.keyboard.press('Enter');
    await visit.told('There is none of these.');
    expect(await focused()).to.equal('Show,');
    await page.goBack();
    await visit.told('webhook.test');
    await visit.quiet();
    const field = await page.waitForSelector('::-p-aria([name="Event"][role="textbox"])');
    expect(await field?.evaluate((element) => (element as { value?: string }).value)).to.equal(
      'webhook.test',
    );
  });

  // spec/beyond.md R436
  it('sends all once more that was given up while a receiver was away', async () => {
    const { body: list } = await story.tenant.get('/v1/webhooks').expect(200);
    const { id, url } = (list.data as { id: string; url: string }[])[0] ?? expect.fail('none');
    receiver.answer = (_request, response) => void response.writeHead(500).end('We are closed.');
    for (let n = 0; n < 2; n += 1) await story.tenant.post(`/v1/webhooks/${id}/test`).expect(200);
    await visit.open(`/console/webhooks/${id}?status=failed`, url);
    await visit.find('button', 'Send all 2 again');
    await visit.inspect('webhook-all-failed');
    receiver.answer = ok;
    await visit.tabTo('Send all 2 again');
    await visit.page.keyboard.press('Enter');
    await visit.told('2 are sent once more.');
    await visit.told('There is none of these.');
    await visit.checkAccess();
  });

  // spec/beyond.md R474
  it('switches on one that was switched off', async () => {
    receiver.answer = (_request, response) => void response.writeHead(410).end();
    const { body: list } = await story.tenant.get('/v1/webhooks').expect(200);
    const { id, url } = (list.data as { id: string; url: string }[])[0] ?? expect.fail('none');
    // What was sent before may have switched it off already.
    await story.tenant.post(`/v1/webhooks/${id}/test`);
    const read = async () => (await story.tenant.get(`/v1/webhooks/${id}`).expect(200)).body;
    for (let n = 0; n < 100 && (await read()).active; n += 1) await wait(100);
    await visit.open(`/console/webhooks/${id}`, url);
    await visit.told('Nothing is sent to it.');
    await visit.inspect('webhook-off');
    receiver.answer = ok;
    await visit.tabTo('Switch it on');
    await visit.page.keyboard.press('Enter');
    await visit.told('It is active.');
    expect(await read()).to.include({ active: true, disabledReason: null });
    await visit.checkAccess();
    await visit.click('button', 'Send a test event');
    await visit.told('It is pending.');
  });

  it('says what is not there', async () => {
    await visit.open('/console/webhooks/00000000-0000-4000-8000-000000000000', 'Webhook');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    await visit.shoot('webhook-wrong');
    visit.complaints.splice(0);
  });
});
