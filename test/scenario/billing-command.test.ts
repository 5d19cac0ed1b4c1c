import { expect } from 'chai';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { testServers } from '../support/servers/servers.js';
import { usage } from '../support/billing/usage.js';
import { attribute, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

describe('durabill billing-run', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const story = useStory();
  const { instance, tenant } = story;
  let temporal: Awaited<ReturnType<typeof testServers>>['temporal'];

  before(async () => {
    ({ temporal } = await testServers());
    for (const externalId of ['first', 'second']) {
      await story.account(externalId, { name: `The ${externalId}`, defaultCurrency: 'USD' });
    }
    const serviceId = await story.service('Calls', {
      priceableAttributes: [attribute('calls')],
      rateCards: [usdCard(priceOfEach('calls', 2, { label: 'Calls' }))],
    });
    await story.send(
      usage('first', serviceId, { dimensions: { calls: '3' } }),
      usage('second', serviceId, { dimensions: { calls: '4' } }),
    );
  });

  const bill = (...options: string[]) => {
    const settings = {
      ...settingsOf(instance),
      PUBLIC_URL: instance.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
    };
    const period = ['--from', '2026-03-01', '--to', '2026-03-31'];
    return runDurabill(settings, 'billing-run', '--tenant', tenant.id, ...period, ...options);
  };
  const invoicesOf = (output: string) =>
    (JSON.parse(output.slice(output.indexOf('{'))) as { invoices: Record<string, unknown>[] })
      .invoices;

  it('names the accounts of a dry run', async () => {
    const { code, output, errors } = await bill('--dry-run');
    expect(code, errors).to.equal(0);
    const names = invoicesOf(output).map(({ account, externalId }) => [account, externalId]);
    expect(names).to.have.deep.members([
      ['The first', 'first'],
      ['The second', 'second'],
    ]);
  });

  it('bills one account by its external id, and prints number, name and total', async () => {
    const { code, output, errors } = await bill('--account', 'first');
    expect(code, errors).to.equal(0);
    const [invoice, ...others] = invoicesOf(output);
    expect(others).to.deep.equal([]);
    // 3 calls at 2.
    expect(invoice).to.include({
      invoiceNo: 'INV-000001',
      account: 'The first',
      externalId: 'first',
      total: 6,
      currency: 'USD',
    });
  });

  it('ends with the reason where the account does not exist', async () => {
    const { code, output, errors } = await bill('--account', 'third');
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.equal("durabill: 'accountId' names no account: 'third'\n");
  });
});
