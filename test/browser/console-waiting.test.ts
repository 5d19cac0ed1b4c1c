import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** What was billed is corrected, and nothing else is billed: where that is said. */
describe('what waits for the next invoice, in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true, startsOn: '2026-03-20' });
  let visit: ConsoleVisit;
  let acme: string;
  let calls: string;

  before(async () => {
    acme = await story.account('acme', { name: 'Acme & Söhne' });
    calls = await story.service('Calls');
    const sent = (api_calls: string) =>
      usage('acme', calls, {
        externalTransactionId: 'read',
        eventTimestamp: '2026-03-10T10:00:00Z',
        dimensions: { api_calls },
      });
    await story.send(sent('200'));
    await story.bill('2026-03');
    await story.tenant
      .post('/v1/usage-events/read/amend', { reason: 'Read twice.', message: sent('175') })
      .expect(200);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  // spec/beyond.md R570
  it('is on the page of the next invoice, which leads to what was corrected', async () => {
    await visit.open(`/console/accounts/${acme}/next-invoice`, 'Next invoice');
    await visit.told('Nothing is to be billed now.');
    // 175 at 0.01 instead of 200.
    await visit.told('come to -USD 0.25 without tax. That waits until something else is billed.');
    await visit.inspect('next-invoice-waits');
    await visit.tabTo('INV-000001');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Invoice INV-000001');
  });

  // spec/beyond.md R594
  it('is on the pages of the account, the invoice and an empty dry run', async () => {
    const said = 'come to -USD 0.25 without tax. That waits until something else is billed.';
    await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
    await visit.told(said);
    await visit.inspect('account-waits');
    await visit.click('link', 'INV-000001');
    await visit.arrive('Invoice INV-000001');
    await visit.told(said);
    await visit.inspect('invoice-waits');
    const period = 'from=2026-03-01&to=2026-03-31';
    await visit.open(`/console/billing?${period}&accountId=${acme}`, 'Billing');
    await visit.click('button', 'Show what would be billed');
    await visit.told('Nothing of this period is left to be billed.');
    await visit.told(said);
    await visit.inspect('billing-empty-waits');
    await visit.click('link', 'Next invoice');
    await visit.arrive('Next invoice');
    await visit.open(`/console/billing?${period}`, 'Billing');
    await visit.click('button', 'Show what would be billed');
    await visit.told('What corrections owe an account waits until something else is billed');
  });

  // spec/beyond.md R571
  it('is on the receipt, with the invoice that has what it was', async () => {
    await visit.open('/console/receipts/read', 'Receipt of read');
    await visit.told('at USD 2.00. The difference of -USD 0.25 waits for the next invoice.');
    await visit.inspect('receipt-waits');
    await visit.tabTo('INV-000001');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Invoice INV-000001');
  });

  // spec/beyond.md R574
  it('is found from the correction, and leads to the invoice once it is billed with others', async () => {
    await story.send(usage('acme', calls, { eventTimestamp: '2026-03-12T10:00:00Z' }));
    await story.tenant.post('/v1/usage-events/read/cancel', { reason: 'Never used.' }).expect(200);
    await visit.open('/console/usage/corrections', 'Corrections');
    await visit.click('link', 'Never used.');
    await visit.arrive('Never used.');
    await visit.told('After: there is no charge.');
    await visit.inspect('correction-billed');
    await visit.click('link', 'Next invoice');
    await visit.arrive('Next invoice');
    await visit.inspect('next-invoice-corrects');
    await visit.click('link', 'API calls (correction of INV-000001)');
    await visit.arrive('Invoice INV-000001');
  });
});
