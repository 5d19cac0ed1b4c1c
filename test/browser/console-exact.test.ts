import { expect } from 'chai';
import { createAccount, usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** 25 digits: a double has 1234567890123.1235 of them. */
const amount = '1234567890123.123456789012';

const definition = JSON.stringify({
  document: { dsl: '1.0.0', namespace: 'acme', name: 'exact', version: '1.0.0', title: 'Exact' },
  do: [{ keep: { set: { amount: 'AMOUNT', title: 'Old' } } }],
}).replaceAll('"AMOUNT"', amount);

/** What a tenant wrote is what the console shows and publishes, to the last digit. */
describe('numbers in JSON of the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let contracted: { readonly path: string; readonly title: string };

  before(async () => {
    const { tenant } = story;
    await tenant.post('/v1/workflows', `{"definition":${definition}}`).expect(201);
    const id = await createAccount(tenant, 'acme');
    const data = `{"name":"Large","master_account_id":"${id}","total_price":${amount}}`;
    const path = '/v1/workflows/contract-create/execute';
    const { body } = await tenant.post(path, `{"data":${data}}`).expect(200);
    expect(body.status).to.equal('completed');
    const { workflowId, executionId, startedAt } = body;
    contracted = {
      path: `/console/workflows/${workflowId}/executions/${executionId}`,
      title: `Execution of ${startedAt.slice(0, 10)} ${startedAt.slice(11, 19)} UTC`,
    };
    const message = usage('acme', await story.service('Calls'), {
      externalTransactionId: 'numbers',
      dimensions: { api_calls: 5 },
    });
    await story.send(message);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R372
  it('are in a definition what was written, and are published so', async () => {
    await visit.open('/console/workflows/exact', 'Exact');
    await visit.told('No fault: it can be published.');
    await visit.tabTo('Definition');
    const { page } = visit;
    const text = String(await page.evaluate('document.activeElement.value'));
    expect(text).to.include(`"amount": ${amount},\n`);
    await page.evaluate('document.activeElement.select()');
    await page.keyboard.sendCharacter(text.replace('"Old"', '"New"'));
    await visit.told('No fault: it can be published.');
    await visit.tabTo('Publish version 2');
    await page.keyboard.press('Enter');
    await visit.told('Version 2 is live');
    const kept = (await story.tenant.get('/v1/workflows/exact').expect(200)).text;
    expect(kept).to.include(`"set":{"amount":${amount},"title":"New"}`);
  });

  // spec/beyond.md R372, R374
  it('are in what an execution gave what they are in the books', async () => {
    await visit.open(contracted.path, contracted.title);
    await visit.told(`"totalPrice": ${amount}`);
  });

  // spec/beyond.md R367
  it('are in the message of an event what was sent', async () => {
    await visit.open('/console/receipts/numbers', 'Receipt of numbers');
    await visit.told('"api_calls": 5');
  });
});
