import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import {
  ok,
  openReceiver,
  waitUntilDelivered,
  type Receiver,
} from '../support/servers/receiver.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** What webhooks were told, and of what; the story of one that was away is in stories/operator.test.ts. */
describe('webhooks in the console', function () {
  this.timeout(240_000);
  const story = useStory({
    isPublic: true,
    // Whoever does not send it sooner waits for an hour.
    webhooks: { delaysMs: [0, 3_600_000], timeoutMs: 1_000 },
  });
  let visit: ConsoleVisit;
  let receiver: Receiver;
  let webhookId: string;
  before(async () => {
    receiver = await openReceiver();
    receiver.answer = (_request, response) => void response.writeHead(500).end('We are closed.');
    const events = ['invoice.posted', 'usage.rejected', 'alert.triggered', 'mdata.created'];
    const given = { url: receiver.url, events, secret: 'a secret of ours' };
    const { body } = await story.tenant.post('/v1/webhooks', given).expect(201);
    webhookId = body.id as string;
    const accountId = await story.account('acme', { name: 'Acme' });
    const calls = await story.service('Calls');
    const alert = { accountId, measure: 'spend', period: 'Monthly', thresholds: [1] };
    await story.tenant.post('/v1/alerts', { ...alert, name: 'Dear' }).expect(201);
    await story.send(
      usage('acme', calls),
      usage('acme', calls, {
        eventTimestamp: new Date().toISOString(),
        dimensions: { api_calls: '300' },
      }),
      usage('nobody', calls, { externalTransactionId: 'lost' }),
    );
    await story.bill('2026-03');
    await story.tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    await story.tenant.post('/v1/mobjects/thing/mdata', { data: {} }).expect(201);
    await receiver.until((all) => all.length === 4);
  });
  after(() => receiver.close());
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R512
  it('say what they were told of, and lead to it', async () => {
    await visit.open(`/console/webhooks/${webhookId}`, receiver.url);
    for (const about of ['Invoice INV-000001', 'Usage event lost', 'Alert Dear', 'Record']) {
      await visit.find('link', about);
    }
    await visit.inspect('webhook-about');
    await visit.click('link', 'Usage event lost');
    await visit.arrive('Receipt of lost');
    await visit.open(`/console/webhooks/${webhookId}`, receiver.url);
    await visit.click('link', 'Record');
    await visit.arrive('Audit');
    await visit.told('1 to 1 of 1');
    // spec/beyond.md R579
    await visit.open(`/console/webhooks/${webhookId}`, receiver.url);
    await visit.click('link', 'Alert Dear');
    await visit.arrive('Acme');
  });

  // spec/beyond.md R513
  it('are sent now what waits for its next attempt', async () => {
    await visit.open(`/console/webhooks/${webhookId}?event=invoice.posted`, receiver.url);
    await visit.told('retrying');
    receiver.answer = ok;
    await visit.tabTo('Send now');
    await visit.page.keyboard.press('Enter');
    await visit.told('invoice.posted is sent once more.');
    await visit.told('answered with 204');
    await visit.find('button', 'Send again');
    expect(await visit.text()).to.not.include('retrying');
    await visit.checkAccess();
    await visit.shoot('webhook-sent-now');
  });

  it('are sent what waits by the API, too', async () => {
    const path = `/v1/webhooks/${webhookId}/deliveries`;
    const { body } = await story.tenant.get(`${path}?status=retrying`).expect(200);
    for (const { id } of body.data as { readonly id: string }[]) {
      await story.tenant.post(`${path}/${id}/redeliver`).expect(200);
    }
    await waitUntilDelivered(story.tenant, webhookId);
  });
});
