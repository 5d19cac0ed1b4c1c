import { expect } from 'chai';
import { runFlow } from '../support/billing/flows.js';
import { external } from '../support/servers/instance.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** Whoever approves prices and terms sees them, and the way to their pages. */
describe('approvals of records in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let contract: { readonly id: string; readonly number: string };
  let service: string;

  before(async () => {
    const { tenant } = story;
    const acme = await story.account('acme', { name: 'Acme' });
    service = await story.service('Calls');
    const { id } = await story.subscribe(acme, [service], { name: 'Terms' });
    contract = (await tenant.get(`${external}/contracts/${id}`).expect(200)).body;
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R461
  it('shows the prices that approving a service puts in force, and leads to it', async () => {
    await visit.open(`/console/approvals/${service}`, 'Service Calls');
    await visit.told('It was never approved, and holds already');
    await visit.find('table', 'What it says');
    await visit.told('API calls: USD 0.01 each');
    await visit.tabTo('Each field of its cards');
    await visit.page.keyboard.press('Enter');
    await visit.told('rateCards / 1 / rows / 1 / unitRate');
    await visit.inspect('approval-service');
    await visit.tabTo('the service');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Calls');
  });

  // spec/beyond.md R461, R375
  it('shows the lines of a contract, is decided by keyboard, and leads to the account', async () => {
    const title = `Contract ${contract.number}: Terms`;
    await visit.open('/console/approvals?kind=contract', 'Approvals');
    await visit.tabTo(title);
    await visit.page.keyboard.press('Enter');
    await visit.arrive(title);
    // spec/beyond.md R593
    await visit.told('It was never approved, and holds already');
    await visit.find('link', 'Acme');
    expect(await visit.text()).to.not.include('Before and after');
    await visit.find('table', 'The contract');
    await visit.told('Calls');
    await visit.tabTo('of the catalog, without an instance');
    await visit.page.keyboard.press('Enter');
    await visit.told('API calls: USD 0.01 each');
    await visit.inspect('approval-contract');
    // spec/beyond.md R549
    await visit.tabTo('Reject');
    await visit.page.keyboard.press('Enter');
    await visit.told('Give a reason first.');
    const approval = `/v1/approvals/${contract.id}`;
    expect((await story.tenant.get(approval).expect(200)).body.status).to.equal('pending');
    await visit.tabTo('Reason');
    await visit.page.keyboard.type('Not these terms.');
    await visit.tabTo('Reject');
    await visit.page.keyboard.press('Enter');
    await visit.told('Rejected');
    await visit.find('table', 'Decisions');
    await visit.inspect('approval-rejected');
    await visit.click('link', 'the contract, at its account');
    await visit.arrive('Acme');
  });

  // spec/beyond.md R593
  it('shows of a contract that was approved what has changed since, and its lines', async () => {
    const { tenant } = story;
    const acme = (await tenant.get(`${external}/contracts/${contract.id}`).expect(200)).body;
    const { id } = await story.subscribe(acme.masterAccountId, [service], { name: 'Old terms' });
    await tenant.post(`/v1/approvals/${id}`, { decision: 'approve' }).expect(200);
    await runFlow(tenant, 'contract/edit?draftMode=true', { id, name: 'New terms' });
    await runFlow(tenant, 'contract/edit', { id, total_price: 13 });
    await visit.open('/console/approvals?kind=contract', 'Approvals');
    const { number } = (await tenant.get(`${external}/contracts/${id}`).expect(200)).body;
    await visit.click('link', `Contract ${number}: New terms`);
    await visit.find('table', 'Before and after');
    expect(await visit.text()).to.match(/name\s+Old terms\s+New terms\s+changes/);
    await visit.find('table', 'The contract');
    await visit.told('Calls');
    await visit.find('link', 'Acme');
    await visit.inspect('approval-contract-again');
  });
});
