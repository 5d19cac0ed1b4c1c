import { expect } from 'chai';
import { until } from '../start/workbench.js';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { external } from '../support/servers/instance.js';
import { openReceiver, waitUntilDelivered } from '../support/servers/receiver.js';
import { asOwner } from '../support/servers/rows.js';
import { refuseRequests } from '../support/servers/intercepted.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

const place = '/console/operations';

/** How it goes for a tenant: well, and then badly. */
// spec/beyond.md R439
describe('operations in the console', function () {
  this.timeout(240_000);
  const story = useStory({
    isPublic: true,
    // One attempt: what fails has failed.
    webhooks: { delaysMs: [0], timeoutMs: 1_000 },
  });
  let visit: ConsoleVisit;
  let calls: string;
  before(async () => {
    await story.account('acme');
    calls = await story.service('Calls');
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  const audit = async (sample = {}) => {
    const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31', ...sample };
    await story.tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
  };

  it('says what to do where nothing was done yet', async () => {
    await visit.click('link', 'Operations');
    await visit.arrive('Operations');
    await visit.told('Nothing was rated in the last hour.');
    await visit.told('Usage was never audited');
    await visit.find('table', 'Parts of this instance');
    expect(await visit.text()).to.not.include('does not answer');
    await visit.inspect('operations-none');
    await visit.tabTo('Audit a period');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Usage Audit');
    await visit.click('link', 'Webhooks');
    await visit.told('Nothing is told to anybody yet.');
    await visit.inspect('webhooks-none');
  });

  it('shows by itself what is rated, minute by minute, and what an audit found', async () => {
    await visit.open(place, 'Operations');
    await story.send(usage('acme', calls), usage('nobody', calls));
    await visit.find('figure', 'Events by minute');
    // spec/beyond.md R514: an hour, and how high it is; both may have come in one minute.
    await visit.page.waitForSelector('::-p-aria([role="slider"])');
    const last = `document.querySelector('[role=slider]').ariaValueMax`;
    expect(await visit.page.evaluate(last)).to.equal('59');
    expect(await visit.text()).to.match(/in each minute of the last hour: at most [12] events?\./);
    await visit.told('Rejected events wait until they are mended');
    await audit({ samplePercent: 10 });
    await visit.find('link', 'The last audit');
    // spec/beyond.md R576
    await visit.told(
      '10 % of the events of the period: nothing is said of the charges of the others',
    );
    await visit.told('no others are counted');
    await visit.tabTo('Events by minute: arrow keys go from bar to bar');
    await visit.page.keyboard.press('Home');
    await visit.told(' UTC: nothing');
    await visit.page.keyboard.press('End');
    // A minute may have begun since.
    for (let back = 0; back < 2 && !(await visit.text()).includes(' UTC: Rated '); back += 1) {
      await visit.page.keyboard.press('ArrowLeft');
    }
    await visit.told(' UTC: Rated ');
    await visit.tabTo('Minutes as a table');
    await visit.page.keyboard.press('Enter');
    await visit.find('table', 'Minutes in which something was rated, the newest first');
    expect(await visit.text()).to.not.include('differs from what it comes to');
    await visit.inspect('operations');
  });

  it('says what is bad, and leads to where it is mended', async () => {
    const receiver = await openReceiver();
    receiver.answer = (_request, response) => void response.writeHead(500).end('Closed.');
    const given = { url: receiver.url, events: ['invoice.posted'], secret: 'a secret of ours' };
    const { body: webhook } = await story.tenant.post('/v1/webhooks', given).expect(201);
    await story.tenant.post(`/v1/webhooks/${webhook.id}/test`).expect(200);
    await waitUntilDelivered(story.tenant, webhook.id);
    await receiver.close();
    await asOwner(story.instance.databaseUrl, (client) =>
      client.query('update rated_transaction set amount = amount + 1 where tenant_id = $1', [
        story.tenant.id,
      ]),
    );
    await audit();
    const missing = { id: '01939c6e-7a00-7000-8000-00000000dead', name: 'x' };
    await story.tenant.post(`${external}/run/billing/account/edit`, missing).expect(404);

    await visit.open(place, 'Operations');
    await visit.told('What was recorded differs from what it comes to.');
    await visit.told('Something was given up.');
    await visit.told('none: every event of the period');
    await visit.told('Nothing reaches a receiver.');
    const looked = 'the last audit, rejected events, webhooks, executions that failed';
    await visit.told(`To be looked at: ${looked}.`);
    await visit.told('Once that is mended, its page leads to the form with the same input.');
    await visit.find('table', 'Executions that failed, the last first');
    await visit.inspect('operations-bad');
    await visit.tabTo('account-edit');
    await visit.page.keyboard.press('Enter');
    await visit.told('Took');
    // What is built in has no tasks to be asked for.
    await visit.quiet();
    expect(visit.page.url()).to.match(/\/executions\/[0-9a-f-]{36}$/);
    await visit.open(place, 'Operations');
    await visit.find('link', 'look at webhooks');
  });

  it('says why it is not up to date, and goes on once it can be', async () => {
    const { page } = visit;
    await visit.open(place, 'Operations');
    await visit.find('table', 'Parts of this instance');
    const isStatus = ({ url }: { url: string }) => url.endsWith('/v1/status');
    const away = { code: 'DATABASE_UNAVAILABLE', message: 'The database does not answer.' };
    const comeBack = await refuseRequests(page, isStatus, 503, away);
    await story.send(usage('acme', calls));
    await visit.told('Not up to date: The database does not answer.');
    await visit.shoot('operations-not-up-to-date');
    await visit.open(place, 'Operations');
    await visit.told('Waiting: The database does not answer.');
    await comeBack();
    await visit.find('table', 'Parts of this instance');
    expect(await visit.text()).to.not.include('Not up to date');
    visit.complaints.splice(0);
  });

  it('says which part does not answer', async () => {
    const { broker } = story.instance.platform;
    const ping = broker.ping.bind(broker);
    broker.ping = () => Promise.reject(new Error('It is away.'));
    const isAway = async () => !(await story.tenant.get('/v1/status')).body.parts.broker;
    try {
      await until(isAway, 20_000, 'the news that the broker is away');
      await visit.open(place, 'Operations');
      await visit.told('A part does not answer.');
      await visit.told('unknown: the log does not answer');
      await visit.inspect('operations-part-away');
    } finally {
      broker.ping = ping;
    }
  });

  it('says what is not there', async () => {
    await visit.open('/console/webhooks/00000000-0000-4000-8000-000000000000', 'Webhook');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    await visit.shoot('webhook-wrong');
    visit.complaints.splice(0);
  });
});
