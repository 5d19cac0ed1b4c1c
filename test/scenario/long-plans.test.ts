import { expect } from 'chai';
import { auditCharges } from '../../src/queries/usage/audit/usage-audit.js';
import { listCorrectedCharges } from '../../src/queries/usage/corrections/corrected-charge.js';
import { listRepricedCharges } from '../../src/queries/usage/repricing/repriced-charge.js';
import { Repricer } from '../../src/queries/usage/repricing/repricer.js';
import {
  readPortion,
  type PortionPlace,
} from '../../src/queries/usage/repricing/reprice-accounts.js';
import { UsageDay } from '../../src/models/usage/usage-day.js';
import type { PageRequest } from '../../src/schemas/http/paging.js';
import { longRowsSql } from '../support/billing/catalog.js';
import { usage } from '../support/billing/usage.js';
import { weigh } from '../support/billing/weigh-answers.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { useStory } from '../support/story/story.js';

const days = ['01', '05', '09', '13', '17', '21'];
/** 3 MB for each version of the cards of a service. */
const addRows = longRowsSql(75);
/** All prices of a service become 0.02, as if they had been so at all times. */
const changePrices = `
  update rate_card_row as line set rates = '{"unitRate": "0.02"}'
  from rate_card as card
  where line.tenant_id = $1 and card.id = line.rate_card_id and card.service_id = $2
    and line.position = 0`;

/** Plans of megabytes, another one for each event: they are read as many at once as may be held. */
describe('usage that was rated with long plans', function () {
  this.timeout(120_000);
  const story = useStory({ startsOn: '2026-04-02' });
  const { tenant } = story;
  let [acme, serviceId, correctionId, repricingId] = ['', '', '', ''];
  /** Two plans and the begin of a third are 8 MiB. */
  const threePlans = 3 * 75 * 40_500;

  const asDatabaseOwner = (sql: string) =>
    asOwner(story.instance.databaseUrl, (client) => client.query(sql, [tenant.id, serviceId]));
  const pagesOf = async (
    list: (page: PageRequest) => Promise<{
      readonly items: readonly {
        readonly beforeExplanation?: unknown;
        afterExplanation?: unknown;
      }[];
      readonly total: number;
      readonly isCut?: boolean | undefined;
    }>,
  ) => {
    const pages: (readonly [number, boolean | undefined])[] = [];
    for (let offset = 0; offset < days.length;) {
      const { items, total, isCut } = await list({ limit: 10, offset });
      expect(total).to.equal(days.length);
      for (const { beforeExplanation, afterExplanation } of items) {
        expect(beforeExplanation).to.be.an('object');
        expect(afterExplanation).to.be.an('object');
      }
      pages.push([items.length, isCut]);
      offset += items.length;
    }
    return pages;
  };

  before(async () => {
    acme = await story.account('acme');
    serviceId = await story.service('Calls');
    const rows = [
      { priceDimName: 'api_calls', label: 'Calls', priceMethod: 'QUANTITY', unitRate: 0.01 },
    ];
    for (const day of days) {
      const card = { currency: 'USD', rows, fromDate: `2026-03-${day}` };
      await tenant
        .post(`${external}/services/${serviceId}/rate-cards/USD/versions`, card)
        .expect(201);
    }
    await asDatabaseOwner(addRows);
    // 100 calls at 0.01 under each version.
    await story.send(
      ...days.map((day) =>
        usage('acme', serviceId, { eventTimestamp: `2026-03-${day}T10:00:00Z` }),
      ),
    );
    const data = { name: 'Twice', from: '2026-03-01', to: '2026-04-01' };
    const changes = [{ kind: 'usage', factor: 2 }];
    const { body } = await tenant
      .post('/v1/workflows/reprice/execute', { data: { ...data, changes } })
      .expect(200);
    expect(body.output).to.deep.include({
      events: 6,
      before: [{ currency: 'USD', amount: 6 }],
      after: [{ currency: 'USD', amount: 12 }],
    });
    ({ repricingId } = body.output);
  });

  // spec/beyond.md R153
  it('is audited, a few plans at a time', async () => {
    const most = weigh(tenant.scope.db.read);
    const input = { periodStart: '2026-03-01', periodEnd: '2026-03-31', samplePercent: 100 };
    const page = await auditCharges(tenant.scope, { input, after: null, limit: 1_000 });
    expect(page).to.deep.include({ events: 6, unchecked: 0, charges: 6, differences: [] });
    expect(most.length).to.be.within(threePlans / 3, threePlans);
  });

  // spec/beyond.md R153
  it('is tried in portions of a few plans', async () => {
    const { db, tenantId } = tenant.scope;
    const march = { from: '2026-03-01', last: '2026-03-31' };
    const ids = await UsageDay.idRange(db.read, tenantId, ['rated'], march);
    if (!ids) throw new Error('There is no usage.');
    const twice = { kind: 'usage', factor: '2', serviceId: null, attribute: null } as const;
    const repricer = new Repricer(db.read, tenantId, [twice]);
    const range = { from: '2026-03-01T00:00:00Z', to: '2026-04-01T00:00:00Z', ...ids };
    const usageOf = {
      repricingId: '',
      range: { ...range, serviceIds: null },
      accountIds: null,
      hasTriedPeriods: false,
    };
    const counts: number[] = [];
    for (let place: PortionPlace = { accountId: null, eventId: null }; ;) {
      const { chosen, recorded } = await readPortion(db.read, tenantId, usageOf, place, repricer);
      if (chosen.isDone) break;
      counts.push(recorded.length);
      place = chosen;
    }
    expect(counts.filter((count) => count > 0)).to.deep.equal([3, 3]);
  });

  // spec/beyond.md R153
  it('is explained beside what it would be: a page ends early, and the next goes on', async () => {
    const most = weigh(tenant.scope.db.read);
    const asked = { repricingId, accountId: acme };
    const pages = await pagesOf((page) =>
      listRepricedCharges(tenant.scope, asked, { explain: true, ...page }),
    );
    expect(pages).to.deep.equal([
      [3, true],
      [3, false],
    ]);
    expect(most.length).to.be.within(threePlans / 3, threePlans);
  });

  // spec/beyond.md R153
  it('is explained for an invoice, all of it', async () => {
    const { invoices } = await story.bill('2026-03');
    const { items } = await story.explain(invoices[0]?.id);
    const explained = items.flatMap((item: { transactions: { explanation: unknown }[] }) =>
      item.transactions.map(({ explanation }) => typeof explanation),
    );
    expect(explained).to.deep.equal(Array(6).fill('object'));
    expect(JSON.stringify(items)).to.not.include('"explanation":null');
  });

  // spec/beyond.md R153
  it('is rated again, and explained before and after', async () => {
    await asDatabaseOwner(changePrices);
    // Whatever changes a service gives it another version for rating.
    await tenant.put(`${external}/services/${serviceId}`, { name: 'Calls, dearer' }).expect(200);
    const data = { from: '2026-03-01', to: '2026-04-01', reason: 'Wrong price.' };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.output).to.include({ events: 6, changed: 6 });
    ({ correctionId } = body.output);
    const pages = await pagesOf((page) =>
      listCorrectedCharges(tenant.scope, undefined, { correctionId, isExplained: true }, page),
    );
    // Each pair has two plans: of the second one the third is read, and the fourth is too much.
    expect(pages).to.deep.equal([...Array.from({ length: 5 }, () => [1, true]), [1, false]]);
  });
});
