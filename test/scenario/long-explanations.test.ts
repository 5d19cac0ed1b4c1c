import { expect } from 'chai';
import { explainParts } from '../../src/queries/billing/charge-explainer.js';
import { RatedTransaction } from '../../src/models/usage/rated-transaction.js';
import { listCorrectedCharges } from '../../src/queries/usage/corrections/corrected-charge.js';
import { findUsageOutcomes } from '../../src/queries/usage/usage-outcomes.js';
import { meteredService, tiers, usage, type Message } from '../support/billing/usage.js';
import { weigh } from '../support/billing/weigh-answers.js';
import { external } from '../support/servers/instance.js';
import { useStory } from '../support/story/story.js';

const events = 30;
const note = 'x'.repeat(700_000);
/** One message more may be read than is weighed. */
const longestMax = 8 * 1024 * 1024 + note.length + 100_000;

/** What explains charges is read by weight: messages of nearly a mebibyte each. */
describe('explanations of usage with long messages', function () {
  this.timeout(120_000);
  const story = useStory({ startsOn: '2026-04-02', forEachTest: true });
  const { tenant } = story;

  const messagesOf = (serviceId: string, more: object): Message[] =>
    Array.from({ length: events }, (_each, index) =>
      usage('acme', serviceId, { externalTransactionId: `long-${index}`, ...more }),
    );

  // spec/beyond.md R153
  it('of invoices are made in portions by weight', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    await story.send(...messagesOf(serviceId, { note }));
    const { db, tenantId } = tenant.scope;
    const parts = await RatedTransaction.query(db.read)
      .forTenant(tenantId)
      .select('id', 'usageEventId');
    const most = weigh(db.read);
    const explained = await explainParts(db.read, tenantId, { parts, charges: [] }, 100_000_000);
    expect(explained.size).to.equal(events);
    expect(most.length).to.be.within(note.length, longestMax);
  });

  // spec/beyond.md R153
  it('weigh all that events were ever amended to', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const messages = messagesOf(serviceId, {}).slice(0, 14);
    await story.send(...messages);
    const reason = 'A trial.';
    for (const message of messages) {
      const path = `/v1/usage-events/${String(message.externalTransactionId)}/amend`;
      await tenant.post(path, { message: { ...message, note }, reason }).expect(200);
      await tenant.post(path, { message, reason }).expect(200);
    }
    const rows = [{ priceDimName: 'api_calls', label: 'All', ...tiers([0, null, 0.03]) }];
    const card = { currency: 'USD', rows, fromDate: '2026-02-01' };
    const path = `${external}/services/${serviceId}/rate-cards/USD/versions`;
    await tenant.post(path, card).expect(201);
    const data = { from: '2026-03-01', to: '2026-04-01', reason };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    const asked = { correctionId: body.output.correctionId as string, isExplained: true };
    const most = weigh(tenant.scope.db.read);
    const { items, isCut } = await listCorrectedCharges(tenant.scope, undefined, asked, {
      limit: 100,
      offset: 0,
    });
    expect([items.length, isCut]).to.deep.equal([12, true]);
    expect(most.length).to.be.within(note.length, longestMax);
  });

  // spec/beyond.md R153
  it('are not needed to name what was rejected, which is read by weight', async () => {
    const serviceId = await story.service('Metered', meteredService);
    await story.send(...messagesOf(serviceId, { note }));
    const { db } = tenant.scope;
    const most = weigh(db.read);
    const ranges = Array.from({ length: 64 }, (_each, partition) => ({
      partition,
      from: 0,
      to: events,
    }));
    const { rejectedEvents } = await findUsageOutcomes(tenant.scope, ranges);
    expect(rejectedEvents.map(({ billingAccountRef }) => billingAccountRef)).to.deep.equal(
      Array.from({ length: events }, () => 'acme'),
    );
    const places = rejectedEvents.map(
      ({ partition, offset }) => partition * 1_000 + Number(offset),
    );
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    expect(most.length).to.be.within(note.length, longestMax);
  });
});
