import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { openReceiver, type Receiver } from '../support/servers/receiver.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

const document = { dsl: '1.0.0', namespace: 'acme', name: 'greet', version: '1.0.0' };
/** Looks at an account, and fails where its input says so; `title` tells versions apart. */
const greet = (title: string) => ({
  document: { ...document, title: 'Greets' },
  do: [
    {
      look: {
        call: 'durabill.operation',
        with: { operationId: 'listAccounts', parameters: { size: 1 } },
      },
    },
    {
      stop: {
        if: '${ has(workflow.input.fail) }',
        raise: { error: { type: 'https://acme.test/stop', status: 409, title: 'Stopped' } },
      },
    },
    { say: { set: { title } } },
  ],
});
const many = {
  document: { ...document, name: 'count', title: 'Counts' },
  do: [
    {
      all: {
        for: { in: '${ workflow.input.numbers }' },
        do: [{ one: { set: { n: '${ item }' } } }],
      },
    },
  ],
};

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** What executions would do, do and did, also in other versions. */
describe('executions in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let receiver: Receiver;
  let counted: string;

  before(async () => {
    const { tenant } = story;
    receiver = await openReceiver();
    await tenant
      .post('/v1/webhooks', { url: receiver.url, events: ['workflow.completed'], secret })
      .expect(201);
    await tenant.post('/v1/workflows', { definition: greet('first') }).expect(201);
    await tenant.put('/v1/workflows/greet', { definition: greet('second') }).expect(200);
    await tenant.post('/v1/workflows/greet/execute', { data: {} }).expect(200);
    await tenant.post('/v1/workflows/greet/execute', { data: { fail: true } }).expect(200);
    await tenant.post('/v1/workflows', { definition: many }).expect(201);
    const data = { numbers: Array.from({ length: 120 }, (_none, index) => index) };
    const { body } = await tenant.post('/v1/workflows/count/execute', { data }).expect(200);
    expect(body.status).to.equal('completed');
    counted = `/console/workflows/${body.workflowId}/executions/${body.executionId}`;
    await story.account('acme', { name: 'Acme' });
    const calls = await story.service('Calls');
    await story.send(usage('acme', calls, { externalTransactionId: 'wrong' }));
  });
  after(() => receiver.close());
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R462
  it('lists those that stand so', async () => {
    await visit.open('/console/workflows/greet', 'Greets');
    await visit.told('1 to 2 of 2');
    await visit.tabTo('Status');
    await visit.page.keyboard.type('Failed');
    await visit.click('button', 'Show');
    await visit.told('1 to 1 of 1');
    await visit.told('Stopped');
    await visit.inspect('workflow-failed');
    await visit.open('/console/workflows/greet?status=running', 'Greets');
    await visit.told('None of them stands so.');
  });

  // spec/beyond.md R462
  it('says what an execution would do before it does it', async () => {
    const { page } = visit;
    await visit.open('/console/workflows/greet', 'Greets');
    await visit.tabTo('Run it dry');
    await page.keyboard.press('Enter');
    await visit.told('It would be completed. Nothing was called or written.');
    await visit.find('table', 'What it would call');
    await visit.told('"title": "second"');
    await visit.inspect('workflow-dry-run');
    await visit.told('1 to 2 of 2');
  });

  // spec/beyond.md R462
  it('runs what is built in dry, where it can', async () => {
    const { title } = (await story.tenant.get('/v1/workflows/billing-run').expect(200)).body;
    await visit.open('/console/workflows/billing-run', title);
    await visit.tabTo('Period start');
    await visit.page.keyboard.type('03012026');
    await visit.tabTo('Period end');
    await visit.page.keyboard.type('03312026');
    await visit.tabTo('Run it dry');
    await visit.page.keyboard.press('Enter');
    await visit.told('"dryRun": true');
    await visit.told('completed');
    const runs = (await story.tenant.get('/v1/billing-runs').expect(200)).body.data;
    expect(runs.map(({ dryRun }: { dryRun: boolean }) => dryRun)).to.deep.equal([true]);
  });

  // spec/beyond.md R532
  it('stays while JSON is typed, whatever it is meanwhile', async () => {
    const { page } = visit;
    const { title } = (await story.tenant.get('/v1/workflows/billing-run').expect(200)).body;
    await visit.open('/console/workflows/billing-run', title);
    await visit.tabTo('The same as JSON');
    await page.keyboard.press('Enter');
    await visit.tabTo('Input, as JSON');
    const read = 'document.activeElement.value';
    for (const member of ['"}', '"a}', '"a" x}', '"a\\q"}', '"C:\\}', '"2026-03-01"}']) {
      for (const name of ['r\\q', 'periodStart']) {
        await page.keyboard.down('Control');
        await page.keyboard.press('a');
        await page.keyboard.up('Control');
        const text = `{"${name}": ${member}`;
        await page.keyboard.type(text);
        expect(await page.evaluate(read)).to.equal(text);
      }
    }
    const line = `document.querySelector('input[type=date]').value`;
    expect(await page.evaluate(line)).to.equal('2026-03-01');
    // What is shown line by line is the last that was an object.
    await page.keyboard.type(' "');
    expect(await page.evaluate(line)).to.equal('2026-03-01');
    await visit.checkAccess();
  });

  // spec/beyond.md R525
  it('asks for what an audit declares, line by line, and says at its place what is wrong', async () => {
    const { page } = visit;
    await visit.open('/console/workflows/audit-usage', 'Usage Audit');
    await visit.tabTo('Period start');
    await page.keyboard.type('03012026');
    await visit.tabTo('Period end');
    await page.keyboard.type('02012026');
    await visit.tabTo('Sample percent, if any');
    await page.keyboard.type('50');
    await visit.inspect('workflow-audit');
    await visit.tabTo('Execute');
    await page.keyboard.press('Enter');
    // spec/beyond.md R515
    await visit.told('“Period end” must not be before “Period start”');
    expect(visit.complaints.splice(0)).to.have.length(1);
    await visit.tabTo('Period end');
    await page.keyboard.type('03312026');
    await visit.tabTo('Execute');
    await page.keyboard.press('Enter');
    await visit.told('"samplePercent": 50');
    await visit.told('completed');
    const [last] = (await story.tenant.get('/v1/workflows/audit-usage/executions').expect(200)).body
      .data;
    const input = { periodStart: '2026-03-01', periodEnd: '2026-03-31', samplePercent: 50 };
    expect(last.input).to.deep.equal(input);
  });

  // spec/beyond.md R462
  it('shows the definition of another version, what has changed since, and publishes it anew', async () => {
    await visit.open('/console/workflows/greet', 'Greets');
    await visit.find('table', 'Versions, the newest first');
    await visit.click('link', 'Version 1');
    await visit.told('This is version 1.');
    await visit.find('table', 'Before and after');
    await visit.told('do / 3 / say / set / title');
    await visit.told('No fault: it can be published.');
    await visit.inspect('workflow-earlier');
    await visit.tabTo('Publish version 3');
    await visit.page.keyboard.press('Enter');
    await visit.told('Version 3 is live');
    const { definition } = (await story.tenant.get('/v1/workflows/greet').expect(200)).body;
    expect(definition).to.deep.equal(greet('first'));
  });

  // spec/beyond.md R462
  it('shows all tasks of an execution, page by page', async () => {
    await visit.page.goto(`${story.instance.url}${counted}`);
    await visit.told('1 to 100 of 121');
    await visit.tabTo('Next');
    await visit.page.keyboard.press('Enter');
    await visit.told('101 to 121 of 121');
    await visit.inspect('execution-tasks');
  });

  // spec/beyond.md R522
  it('cancels one after saying what that does', async () => {
    const { tenant } = story;
    const definition = {
      document: { ...document, name: 'rest', title: 'Rests' },
      do: [{ sleep: { wait: 'PT1H' } }],
    };
    await tenant.post('/v1/workflows', { definition }).expect(201);
    const asked = { data: {}, async: true };
    const { body } = await tenant.post('/v1/workflows/rest/execute', asked).expect(200);
    const path = `/v1/workflows/rest/executions/${body.executionId}`;
    await visit.page.goto(`${story.instance.url}${path.replace('/v1', '/console')}`);
    await visit.tabTo('Cancel it');
    await visit.page.keyboard.press('Enter');
    await visit.told('It ends after what is under way, and cannot go on again.');
    await visit.inspect('execution-cancel');
    expect((await tenant.get(path).expect(200)).body.status).to.equal('running');
    await visit.tabTo('Cancel it now');
    await visit.page.keyboard.press('Enter');
    // The button goes once the page knows that it has ended (spec/beyond.md R534).
    await visit.page.waitForFunction(`!document.body.innerText.includes('Cancel it')`);
    expect((await tenant.get(path).expect(200)).body.status).to.equal('canceled');
    expect(await visit.page.evaluate('document.activeElement.textContent')).to.equal(
      'It is told to end.',
    );
  });

  // spec/beyond.md R464
  it('shows the webhooks that were told, and leads to them', async () => {
    await visit.page.goto(`${story.instance.url}${counted}`);
    await visit.find('table', 'Deliveries, the latest first');
    await visit.click('link', 'workflow.completed');
    await visit.arrive(receiver.url);
  });

  // spec/beyond.md R533
  it('leads from a webhook to an execution, also when another workflow has the name', async () => {
    await story.tenant.delete('/v1/workflows/count').expect(204);
    await story.tenant.post('/v1/workflows', { definition: many }).expect(201);
    await visit.click('link', 'Execution of count');
    await visit.told('1 to 100 of 121');
    await visit.quiet();
    // spec/beyond.md R609
    await visit.click('link', 'Execute it again with this input');
    await visit.told('It cannot be executed again: its workflow was deleted.');
    await visit.click('link', 'the page of the execution');
    await visit.told('1 to 100 of 121');
    // The browser's own words for each 404.
    visit.complaints.splice(0);
  });

  // spec/beyond.md R462
  it('leads from a correction to what did it', async () => {
    const { tenant } = story;
    const [event] = (await tenant.get('/v1/usage-events').expect(200)).body.data;
    const reason = 'Sent by mistake.';
    const path = `/v1/usage-events/${event.id}/cancel`;
    const { correctionId } = (await tenant.post(path, { reason }).expect(200)).body;
    await visit.open(`/console/usage/corrections/${correctionId}`, reason);
    await visit.click('link', 'what it did');
    await visit.told('cancel-usage-event');
    await visit.told(reason);
    // No form does it again, and no workflow of its name is asked for in vain.
    await visit.quiet();
    expect(await visit.text()).to.not.include('Execute it again');
  });

  // spec/beyond.md R530
  it('lists those of what is no workflow, and says of a name that nothing has that it is not there', async () => {
    await visit.click('link', 'cancel-usage-event');
    await visit.told('an operation of its own starts it');
    await visit.told('1 to 1 of 1');
    await visit.inspect('executions-alone');
    await visit.open('/console/workflows/nothing', 'Workflow');
    await visit.told('There is nothing here');
    // The browser's own words for each 404.
    visit.complaints.splice(0);
  });
});
