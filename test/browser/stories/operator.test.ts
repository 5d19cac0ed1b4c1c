import { expect } from 'chai';
import { setTenantPlan } from '../../../src/access/tenants.js';
import { until } from '../../start/workbench.js';
import { usage } from '../../support/billing/usage.js';
import type { ConsoleVisit } from '../../support/servers/console.js';
import { Reader } from '../../support/servers/reader.js';
import {
  ok,
  openReceiver,
  waitUntilDelivered,
  type Receiver,
} from '../../support/servers/receiver.js';
import { useConsole } from '../../support/servers/use-console.js';
import { useStory } from '../../support/story/story.js';

/** Whoever keeps it running: a receiver was away, and then a tenant is loud. */
// spec/beyond.md R370, R486
describe('the story of an operator', function () {
  this.timeout(240_000);
  const story = useStory({
    isPublic: true,
    // One attempt: what fails has failed.
    webhooks: { delaysMs: [0], timeoutMs: 1_000 },
  });
  let visit: ConsoleVisit;
  let operator: Reader;
  let receiver: Receiver;
  let webhookId: string;
  before(async () => {
    receiver = await openReceiver();
    receiver.answer = (_request, response) => void response.writeHead(500).end('We are closed.');
    const given = { url: receiver.url, events: ['invoice.posted'], secret: 'a secret of ours' };
    const { body } = await story.tenant.post('/v1/webhooks', given).expect(201);
    webhookId = body.id as string;
    const calls = await story.service('Calls');
    for (const account of ['acme', 'beta']) {
      await story.account(account);
      await story.send(usage(account, calls));
    }
    // Two invoices, which nobody is told of.
    await story.bill('2026-03');
    await waitUntilDelivered(story.tenant, webhookId);
  });
  after(() => receiver.close());
  useConsole(story, (opened) => {
    visit = opened;
    operator = new Reader(opened);
  });

  const webhook = async () => (await story.tenant.get(`/v1/webhooks/${webhookId}`)).body;

  // spec/beyond.md R379, R436, R439
  it('learns what a receiver was not told while it was away, and sends it again', async () => {
    await operator.go('Operations');
    await operator.reads('Something was given up.', 'To be looked at: webhooks.');
    expect(await visit.text()).to.match(/Given up in 24 hours\s+2\s/);
    await visit.inspect('operations-given-up');
    await operator.go('look at what was given up', 'Webhooks');
    await visit.find('table', 'Webhooks');
    await visit.inspect('webhooks');
    await operator.go(receiver.url);
    await operator.type('Status', 'Failed');
    await operator.press('Show');
    await operator.reads('The answer was 500.', 'Send all 2 again');
    await visit.inspect('webhook-failed');

    receiver.answer = ok;
    await operator.press('Send again');
    await operator.reads('invoice.posted is sent once more.');
    await operator.press('Send the delivery again');
    await operator.reads('1 is sent once more.', 'There is none of these.');
    await operator.type('Status', 'Delivered');
    await operator.press('Show');
    await operator.reads('answered with 204');
    await visit.inspect('webhook');
    await operator.press('Send a test event');
    await operator.reads('A test event is sent');
    await operator.keepsFocus('Send a test event');

    await operator.go('Operations');
    await visit.find('table', 'Parts of this instance');
    expect(await visit.text()).to.match(/Given up in 24 hours\s+0\s/);
  });

  // spec/beyond.md R475
  it('keeps the focus when a filter is shown, and sees what the address says', async () => {
    const { page } = visit;
    const focused = () =>
      page.evaluate('[document.activeElement.textContent, document.activeElement.value].join()');
    await operator.go('Webhooks');
    await operator.go(receiver.url);
    await operator.type('Event', 'webhook.test');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`location.search.includes('webhook.test')`);
    await visit.quiet();
    expect(await focused()).to.equal(',webhook.test');
    await page.keyboard.type('s');
    await operator.press('Show');
    await operator.reads('There is none of these.');
    expect(await focused()).to.equal('Show,');
    await page.goBack();
    await operator.reads('webhook.test');
    await visit.quiet();
    const field = await page.waitForSelector('::-p-aria([name="Event"][role="textbox"])');
    expect(await field?.evaluate((element) => (element as { value?: string }).value)).to.equal(
      'webhook.test',
    );
  });

  // spec/beyond.md R474
  it('switches on what was switched off because its receiver was gone', async () => {
    receiver.answer = (_request, response) => void response.writeHead(410).end();
    await operator.press('Send a test event');
    await operator.reads('Nothing is sent to it.');
    await visit.inspect('webhook-off');
    receiver.answer = ok;
    await operator.press('Switch it on');
    await operator.reads('It is active.');
    expect(await webhook()).to.include({ active: true, disabledReason: null });
    await operator.press('Send a test event');
    await operator.reads('A test event is sent');
    await visit.checkAccess();
  });

  // spec/beyond.md R439
  it('sees that a tenant is loud, which of its programs are, and who changes that', async () => {
    const { database } = story.instance.platform;
    await setTenantPlan(database.platform, story.tenant.id, 'enterprise', 1);
    const isRefused = async () => (await story.tenant.get('/v1/mobjects')).status === 429;
    await until(isRefused, 10_000, 'a refusal');
    await operator.go('Operations');
    await operator.reads('requests are refused', 'More is sent than this tenant may send');
    await visit.inspect('operations-loud');
    await operator.go('access keys', 'Access keys');
    // Links that are passed are read ahead (docs/decisions/0477), which is refused as everything is.
    const others = visit.complaints.splice(0).filter((text) => !text.includes('status of 429'));
    expect(others).to.deep.equal([]);
  });
});
