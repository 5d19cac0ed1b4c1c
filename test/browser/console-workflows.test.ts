import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { readText } from '../../src/cli/workflows/definition-file.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

const asking = {
  document: {
    dsl: '1.0.0',
    namespace: 'acme',
    name: 'raise-limit',
    version: '1.0.0',
    title: 'Raises a limit',
  },
  do: [
    {
      ask: {
        call: 'durabill.approval',
        with: {
          title: '${ "A limit for " + input.name }',
          details: { before: { limit: 1, kind: 'soft' }, after: { limit: 5, kind: 'soft' } },
          timeout: 'PT1H',
          onTimeout: 'reject',
        },
      },
    },
    { tell: { set: { by: '${ input.decisions[0].decidedBy }' } } },
  ],
};

/** Workflows of a tenant's own: their text, what they do, and who decides. */
describe('workflows and approvals in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;

  before(async () => {
    await story.tenant.post('/v1/workflows', { definition: asking }).expect(201);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  /** Writes a text in the place of all that stands in a field. */
  const retype = async (label: string, text: string): Promise<void> => {
    const { keyboard } = visit.page;
    await visit.tabTo(label);
    await keyboard.down('Control');
    await keyboard.press('a');
    await keyboard.up('Control');
    await keyboard.sendCharacter(text);
  };

  it('says that nothing waits for approval', async () => {
    await visit.open('/console/approvals', 'Approvals');
    await visit.told('Nothing waits for you.');
    await visit.inspect('approvals-none');
  });

  // spec/beyond.md R587
  it('are led to from what is empty, where a form of theirs fills it', async () => {
    await visit.open('/console/accounts', 'Accounts');
    await visit.told('This tenant has no accounts yet.');
    await visit.inspect('accounts-none');
    await visit.click('link', 'a form');
    await visit.arrive('Onboarding Flow');
    await visit.told('Name of the company.');
    const account = await story.account('acme', { name: 'Acme' });
    await visit.open(`/console/accounts/${account}`, 'Acme');
    await visit.told('Nothing was paid yet.');
    await visit.inspect('payments-none');
    await visit.click('link', 'Record a payment');
    await visit.arrive('Payment Save Flow');
    // spec/beyond.md R600
    const { page } = visit;
    const valueOf = (name: string) =>
      page.evaluate(`document.querySelector('[name=${name}]').value`);
    expect(await valueOf('account_id')).to.equal(account);
    await visit.tabTo('Amount');
    await page.keyboard.type('-1');
    await visit.tabTo('Execute');
    await page.keyboard.press('Enter');
    await visit.told('“Payment date” is required');
    const refused = `[...document.querySelectorAll('[aria-invalid=true]')].map(({ name }) => name)`;
    expect(await page.evaluate(refused)).to.deep.equal([
      'amount',
      'currency_id',
      'payment_date',
      'payment_method',
      'payment_reference',
    ]);
    expect(await page.evaluate('document.activeElement.name')).to.equal('amount');
    await visit.inspect('payment-refused');
    await page.keyboard.type('0');
    expect(await page.evaluate(refused)).to.deep.equal([]);
    visit.complaints.splice(0);
    const data = {
      account_id: account,
      amount: 10,
      currency_id: 'USD',
      payment_date: '2026-04-30',
      payment_method: 'ACH',
      payment_reference: 'wire 1',
    };
    const path = '/v1/workflows/payment-save/execute';
    const { body } = await story.tenant.post(path, { data }).expect(200);
    const { origin } = new URL(page.url());
    await page.goto(`${origin}/console/workflows/payment-save/executions/${body.executionId}`);
    await visit.click('link', 'Its account');
    await visit.arrive('Acme');
    await page.goBack();
    await visit.click('link', 'Execute it again with this input');
    await visit.arrive('Payment Save Flow');
    await page.waitForFunction(
      `document.querySelector('[name=payment_reference]')?.value === 'wire 1'`,
    );
    expect(await valueOf('amount')).to.equal('10');
  });

  // spec/beyond.md R372
  it("lists the tenant's workflows first, and shows one with its diagram and versions", async () => {
    await visit.open('/console/workflows', 'Workflows');
    await visit.find('table', 'Workflows');
    await visit.tabTo('Raises a limit');
    await visit.shoot('workflows');
    await visit.checkAccess();
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Raises a limit');
    await visit.find(
      'image',
      'The tasks of Raises a limit in their order; the definition has them as text',
    );
    await visit.told('No fault: it can be published.');
    await visit.told('It was not executed yet.');
    await visit.find('table', 'Versions, the newest first');
    const isDrawn = `[...document.images].every(({ naturalWidth }) => naturalWidth > 0)`;
    expect(await visit.page.evaluate(isDrawn)).to.equal(true);
    await visit.inspect('workflow');
    // spec/beyond.md R581
    const filter = `getComputedStyle(document.querySelector('.diagram img')).filter`;
    for (const [value, shown] of [
      ['dark', 'invert'],
      ['light', 'none'],
    ] as const) {
      await visit.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
      expect(await visit.page.evaluate(filter)).to.include(shown);
    }
  });

  // spec/beyond.md R373
  it('says the faults of a definition at their lines while it is typed, and publishes none', async () => {
    await visit.open('/console/workflows/new', 'Define a workflow');
    await visit.told('No fault: it can be published.');
    const { page } = visit;
    const type = async (text: string): Promise<void> => {
      await retype('Definition', text);
    };
    await type('{\n  "document": {}\n,}');
    await visit.told('Line 3, column');
    // spec/beyond.md R588
    await type('document: [');
    await visit.told('This is no JSON, as which a definition is kept here.');
    await visit.told('Line 1, column 1');
    await visit.tabTo('Make JSON of this YAML');
    await page.keyboard.press('Enter');
    await visit.told('It is no YAML either. Line 1, column');
    const yaml = await readFile(
      new URL('../../examples/workflows/large-contract.yaml', import.meta.url),
      'utf8',
    );
    await type(yaml);
    await visit.inspect('workflow-yaml');
    await visit.tabTo('Make JSON of this YAML');
    await page.keyboard.press('Enter');
    await visit.told('No fault: it can be published.');
    const made = String(await page.evaluate(`document.querySelector('textarea').value`));
    expect(JSON.parse(made)).to.deep.equal(readText(yaml).content);
    await type('document: {}\ndo: [{ a: { set: { b: 0.10 } } }]');
    await visit.tabTo('Make JSON of this YAML');
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.querySelector('textarea').value.includes('"b": 0.10')`);
    const broken = JSON.stringify(asking, null, 2).replace('durabill.approval', 'durabill.nothing');
    const line = broken.split('\n').findIndex((text) => text.includes('durabill.nothing')) + 1;
    await type(broken);
    await visit.told(`Line ${line}, column`);
    await visit.inspect('workflow-faults');
    // spec/beyond.md R516
    await visit.told('Mend its faults first.');
    await visit.tabTo('Publish');
    await page.keyboard.press('Enter');
    await visit.quiet();
    await visit.arrive('Define a workflow');
    // spec/beyond.md R405: a browser takes the last of the two, and the server is asked about both.
    await visit.open('/console/workflows/new', 'Define a workflow');
    await visit.told('No fault: it can be published.');
    const twice = JSON.stringify(asking, null, 2).replace(
      '"title": "Raises a limit"',
      '"title": "One",\n    "title": "Two"',
    );
    await type(twice);
    const second = twice.split('\n').findIndex((text) => text.includes('Two')) + 1;
    await visit.told(`Line ${second}, column 5`);
    await visit.told("'title' is there twice: which of the two is meant?");
    await visit.told('Mend its faults first.');
    // What was refused is the answer that was asked for.
    visit.complaints.splice(0);
    // spec/beyond.md R600: what was typed is there again for who comes back.
    await visit.click('link', 'Workflows');
    await visit.arrive('Workflows');
    await visit.click('link', 'Define a workflow');
    await visit.told(`Line ${second}, column 5`);
    const guide = await page.$eval('main a[target=_blank]', ({ href }) => href);
    expect((await fetch(guide)).status).to.equal(200);
    visit.complaints.splice(0);
  });

  // spec/beyond.md R601
  it('offers no approval to who asked for it, and says why', async () => {
    const { page } = visit;
    const named = { ...asking.document, name: 'ask-others', title: 'Asks others' };
    const ask = { title: 'Is it right?', timeout: 'PT1H', onTimeout: 'reject', notStarter: true };
    const definition = { document: named, do: [{ ask: { call: 'durabill.approval', with: ask } }] };
    await story.tenant.post('/v1/workflows', { definition }).expect(201);
    await visit.open('/console/workflows', 'Workflows');
    await visit.click('link', 'Asks others');
    await visit.arrive('Asks others');
    await visit.tabTo('Execute');
    await page.keyboard.press('Enter');
    await visit.told('It waits for a decision');
    await visit.click('link', 'approvals');
    await visit.arrive('Approvals');
    await visit.tabTo('Is it right?');
    await page.keyboard.press('Enter');
    await visit.told('Approve: somebody else than who started it has to.');
    await visit.inspect('approval-of-others');
    await visit.tabTo('Reason');
    await page.keyboard.type('A mistake');
    await visit.tabTo('Reject');
    await page.keyboard.press('Enter');
    await visit.told('rejected');
  });

  // spec/beyond.md R608
  it('publishes nothing over a version that came meanwhile, before that was said', async () => {
    const { page } = visit;
    const versionOf = (title: string) => ({
      document: { ...asking.document, name: 'changed-by-two', title },
      do: [{ done: { set: { by: title } } }],
    });
    await story.tenant.post('/v1/workflows', { definition: versionOf('Ours') }).expect(201);
    await visit.open('/console/workflows', 'Workflows');
    await visit.click('link', 'Ours');
    await visit.arrive('Ours');
    await retype('Definition', JSON.stringify(versionOf('Mine')));
    await visit.told('No fault: it can be published.');
    const theirs = { definition: versionOf('Theirs'), basedOn: 1 };
    await story.tenant.put('/v1/workflows/changed-by-two', theirs).expect(200);
    await visit.tabTo('Publish version 2');
    await page.keyboard.press('Enter');
    await visit.told('Version 2 is live, and this is based on version 1');
    await visit.shoot('workflow-behind');
    visit.complaints.splice(0);
    await visit.tabTo('Publish version 3');
    await page.keyboard.press('Enter');
    await visit.told('Version 3 is live; what runs keeps its own.');
    const { body } = await story.tenant.get('/v1/workflows/changed-by-two').expect(200);
    expect(body.title).to.equal('Mine');
  });

  // spec/beyond.md R374, R375
  it('executes a workflow, and decides what it waits for with before and after', async () => {
    const { page } = visit;
    await visit.open('/console/workflows', 'Workflows');
    await visit.click('link', 'Raises a limit');
    await visit.arrive('Raises a limit');
    const execute = async (input: string): Promise<void> => {
      await retype('Input, as JSON', input);
      await visit.tabTo('Execute');
      await page.keyboard.press('Enter');
    };
    // spec/beyond.md R405: a browser takes the last of the two.
    await execute('{"name": "Acne", "name": "Acme"}');
    await visit.told("'data/name': 'name' is there twice: which of the two is meant?");
    visit.complaints.splice(0);
    await execute('{"name": "Acme"}');
    await visit.told('It waits for a decision');
    await visit.inspect('execution-waits');
    await visit.click('link', 'approvals');
    await visit.arrive('Approvals');
    await visit.inspect('approvals');
    await visit.tabTo('A limit for Acme');
    await page.keyboard.press('Enter');
    await visit.arrive('A limit for Acme');
    await visit.find('table', 'Before and after');
    await visit.told('changes');
    await visit.inspect('approval');
    await visit.tabTo('Reason');
    await page.keyboard.type('The customer is known.');
    await visit.tabTo('Approve');
    await page.keyboard.press('Enter');
    await visit.find('table', 'Decisions');
    await visit.told('The customer is known.');
    // spec/beyond.md R581
    await visit.told('Would have waited until');
    expect(await visit.text()).to.not.include('Waits until');
    await visit.shoot('approval-decided');
    await visit.click('link', 'raise-limit');
    await visit.told('completed');
    await visit.told('approve by');
    await visit.inspect('execution');
  });

  // spec/beyond.md R580
  it('leads from a dry run that failed to what its calls would give', async () => {
    const look = { call: 'durabill.operation', with: { operationId: 'listAccounts' } };
    const definition = {
      document: { ...asking.document, name: 'looks', title: 'Looks' },
      do: [{ look }, { tell: { set: { name: '${ input.data[0].Name }' } } }],
    };
    await story.tenant.post('/v1/workflows', { definition }).expect(201);
    const { page } = visit;
    await visit.open('/console/workflows/looks', 'Looks');
    const label = 'What calls give, as JSON by the name of their task';
    const isShown = `[...document.querySelectorAll('label')].some((one) =>
      one.textContent.startsWith('${label}') && one.checkVisibility())`;
    await visit.find('button', 'Run it dry');
    expect(await page.evaluate(isShown)).to.equal(false);
    await visit.tabTo('Run it dry');
    await page.keyboard.press('Enter');
    await visit.told('nothing was said of look, so it gave null.');
    expect(await page.evaluate(isShown)).to.equal(true);
    await visit.inspect('workflow-dry-run-unsaid');
    await visit.tabTo(label);
    await page.keyboard.down('Control');
    await page.keyboard.press('a');
    await page.keyboard.up('Control');
    await page.keyboard.sendCharacter('{"look": {"output": {"data": [{"Name": "Acme"}]}}}');
    await visit.tabTo('Run it dry');
    await page.keyboard.press('Enter');
    await visit.told('It would be completed.');
    expect(await visit.text()).to.not.include('nothing was said of');
  });

  it('says what is not there', async () => {
    await visit.open('/console/workflows/unknown', 'Workflow');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    visit.complaints.splice(0);
  });
});
