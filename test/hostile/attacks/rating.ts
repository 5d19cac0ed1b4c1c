import { setTimeout as wait } from 'node:timers/promises';
import { serviceIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Formulas, cards, tiers, usage: what rating does for one tenant. */

const external = '/api/v1/external';
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_each, index) => make(index));
const textOf = (value: unknown): string => JSON.stringify(value);

const attribute = { name: 'units', dimensionDataType: 'Number' };
const metered = { ...attribute, isMeterDimension: true, meterResetFrequency: 'Monthly' };

async function makeService(attacker: Attacker, service: object): Promise<string> {
  const name = `s-${attacker.stamp}-${attacker.next()}`;
  return attacker.makeId(
    `${external}/services`,
    { name, currency: 'USD', ...service },
    serviceIdOf(1),
  );
}

const tieredCard = (tiers: number) => ({
  currency: 'USD',
  rows: [
    {
      label: 'Units',
      priceDimName: 'units',
      priceMethod: 'TIERED',
      rateCardTiers: times(tiers, (index) => ({
        tierNum: index + 1,
        tierMinVal: index,
        flatRate: false,
        tierMaxVal: index === tiers - 1 ? null : index + 1,
        tierUnitRate: 0.0001,
      })),
    },
  ],
});

const flatCard = {
  currency: 'USD',
  rows: [{ label: 'Units', priceDimName: 'units', priceMethod: 'QUANTITY', unitRate: 0.01 }],
};

/** Steps of which each divides by numbers of many digits as often as a formula may. */
const dividing = (steps: number, divisions: number) => ({
  name: 'Divide',
  priceOutput: `s${steps - 1}`,
  transactionDimension: 'Billed account',
  steps: times(steps, (index) => ({
    name: `s${index}`,
    formula: `${index === 0 ? 'units' : `s${index - 1}`}${' / 1.0000000000000000001'.repeat(divisions)}`,
  })),
});

const event = (id: string, serviceId: string, dimensions: object, account = 'acct-7') => ({
  key: id,
  message: {
    externalTransactionId: id,
    serviceId,
    billingAccountRef: account,
    eventTimestamp: '2026-10-05T12:00:00Z',
    dimensions,
  },
});

const ingest = (attacker: Attacker, batch: readonly object[]) =>
  attacker.send({ path: '/v1/ingest/usage/batch', method: 'POST', body: textOf(batch) });

/** A thousand events that are rejected. */
const ingestRejected = (attacker: Attacker, round: number) =>
  ingest(
    attacker,
    times(1_000, (index) =>
      event(`${attacker.stamp}-${round}-${index}`, 'no such service', { units: '1' }),
    ),
  );

const manyDigits = '99999999999999999999.999999999999999999';

/** Batches of 1,000 events of a service, whose accounts fall in all partitions. */
const ingesting = (attacker: Attacker, serviceId: string, dimensions: object) =>
  attacker.repeat(() => {
    const number = attacker.next();
    return ingest(
      attacker,
      times(1_000, (index) =>
        event(`${attacker.stamp}-${number}-${index}`, serviceId, dimensions, `acct-${index % 64}`),
      ),
    );
  }, 6);

export const ratingAttacks: readonly Attack[] = [
  {
    name: 'simulation: 1,000 events through formulas at their limits',
    operations: ['simulateUsage'],
    isShort: true,
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [attribute],
        rateCards: [flatCard],
        pricingLogic: [dividing(200, 80)],
      });
      const body = textOf(times(1_000, (i) => event(`e${i}`, serviceId, { units: manyDigits })));
      await attacker.flood(() => ({ path: '/v1/usage-events/simulate', method: 'POST', body }));
    },
  },
  {
    name: 'simulation: 100 events, 21 steps of long divisions',
    operations: ['simulateUsage'],
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [attribute],
        rateCards: [flatCard],
        pricingLogic: [dividing(21, 80)],
      });
      const body = textOf(times(100, (i) => event(`e${i}`, serviceId, { units: manyDigits })));
      await attacker.flood(() => ({ path: '/v1/usage-events/simulate', method: 'POST', body }));
    },
  },
  {
    name: 'simulation: 1,000 events through 5,000 tiers',
    operations: ['simulateUsage'],
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [metered],
        rateCards: [tieredCard(5_000)],
      });
      const body = textOf(times(1_000, (i) => event(`e${i}`, serviceId, { units: '6000' })));
      await attacker.flood(() => ({ path: '/v1/usage-events/simulate', method: 'POST', body }));
    },
  },
  {
    name: 'previews of other prices: 1,000 events through formulas at their limits',
    operations: ['previewRepricing'],
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [attribute],
        rateCards: [flatCard],
      });
      const used = times(1_000, (i) =>
        event(`${attacker.stamp}-previewed-${i}`, serviceId, { units: manyDigits }),
      );
      await ingest(attacker, used);
      const changes = [{ kind: 'pricingLogic', serviceId, ...dividing(200, 80) }];
      const asked = { accountId: 'acct-7', from: '2026-10-01', to: '2026-11-01', changes };
      const body = textOf(asked);
      await attacker.flood(() => ({ path: '/v1/repricings/preview', method: 'POST', body }));
    },
  },
  {
    name: 'simulation: 1,000 events of 1 KB without a service',
    async run(attacker) {
      const dimensions = Object.fromEntries(times(40, (i) => [`d${i}`, manyDigits]));
      const body = textOf(times(500, (i) => event(`e${i}`, 'none', dimensions)));
      await attacker.flood(() => ({ path: '/v1/usage-events/simulate', method: 'POST', body }));
    },
  },
  {
    name: 'usage through 5,000 metered tiers',
    leavesUsage: true,
    isShort: true,
    operations: ['ingestUsageBatch'],
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [metered],
        rateCards: [tieredCard(5_000)],
      });
      await ingesting(attacker, serviceId, { units: '6000' });
    },
  },
  {
    name: 'usage of 1 MiB an event',
    leavesUsage: true,
    operations: ['ingestUsage'],
    async run(attacker) {
      const dimensions = { units: '1', filler: 'u'.repeat(1_000_000) };
      await attacker.flood((index) => ({
        path: '/v1/ingest/usage',
        method: 'POST',
        body: textOf(event(`${attacker.stamp}-${index}`, serviceIdOf(1), dimensions)),
      }));
    },
  },
  {
    name: 'usage of one account, event by event',
    leavesUsage: true,
    operations: ['ingestUsage'],
    async run(attacker) {
      await attacker.flood(
        (index) => ({
          path: '/v1/ingest/usage',
          method: 'POST',
          body: textOf(event(`${attacker.stamp}-${index}`, serviceIdOf(1), { api_calls: '1' })),
        }),
        256,
      );
    },
  },
  {
    name: 'usage through formulas at their limits',
    leavesUsage: true,
    asksForRating: true,
    isShort: true,
    operations: ['ingestUsageBatch'],
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [attribute],
        rateCards: [flatCard],
        pricingLogic: [dividing(20, 80)],
      });
      await ingesting(attacker, serviceId, { units: manyDigits });
    },
  },
  {
    name: 'usage of ranges that cannot be rated',
    asksForRating: true,
    isShort: true,
    async run(attacker) {
      for (let round = 0; !attacker.isOver(); round += 1) {
        await ingest(
          attacker,
          times(500, (index) =>
            event(
              `${attacker.stamp}-${round}-${index}`,
              serviceIdOf(1),
              { x: '1' },
              `acct-${index}`,
            ),
          ),
        );
        // As retention of the log leaves it: what stood in the middle is gone.
        await attacker.query(
          `delete from usage_message r using broker_partition p
           where r.tenant_id = 'attacker' and p.tenant_id = r.tenant_id
             and p.partition = r.partition and r.first_offset >= p.next_offset - 30`,
        );
        await wait(300);
      }
    },
  },
  {
    name: 'usage whose every event is rejected, tried again by filter',
    operations: ['retryUsageEvents', 'retryUsageEvent'],
    async run(attacker) {
      for (let round = 0; round < 5; round += 1) await ingestRejected(attacker, round);
      await attacker.flood((index) => ({
        path: '/v1/usage-events/retry',
        method: 'POST',
        body: '{}',
        headers: { 'idempotency-key': `r${index}` },
      }));
    },
  },
  {
    name: 'previews of a retry: rejected usage that formulas at their limits would rate',
    seconds: 6,
    operations: ['retryUsageEvents'],
    async run(attacker) {
      const serviceId = await makeService(attacker, { priceableAttributes: [attribute] });
      const used = times(1_000, (i) =>
        event(`${attacker.stamp}-previewed-${i}`, serviceId, { units: manyDigits }),
      );
      await ingest(attacker, used);
      // Rejected, since nothing prices it; from now on everything does.
      for (let rejected = ''; !attacker.isOver() && !rejected.includes('NO_RATE_CARD');) {
        rejected = (await attacker.send({ path: '/v1/usage-events/rejections' })).text;
        await wait(100);
      }
      await attacker.make(`${external}/services/${serviceId}/rate-cards`, flatCard);
      await attacker.make(`${external}/services/${serviceId}/pricing-logic`, dividing(20, 80));
      const body = textOf({ serviceId, dryRun: true });
      await attacker.flood(() => ({ path: '/v1/usage-events/retry', method: 'POST', body }));
    },
  },
  {
    name: 'usage whose every event is rejected, dismissed by filter',
    operations: ['dismissUsageEvents'],
    async run(attacker) {
      for (let round = 0; round < 5; round += 1) await ingestRejected(attacker, round);
      await attacker.flood((index) => ({
        path: '/v1/usage-events/dismiss',
        method: 'POST',
        body: JSON.stringify({ reason: 'x'.repeat(1_000), dryRun: index % 2 === 0 }),
        headers: { 'idempotency-key': `d${index}` },
      }));
    },
  },
  {
    name: 'cards of 3,000 rows with 100 conditions',
    operations: ['createRateCard', 'replaceRateCard', 'insertPriceMatrix', 'updatePriceMatrix'],
    async run(attacker) {
      const serviceId = await makeService(attacker, { priceableAttributes: [attribute] });
      const rows = times(150, (row) => ({
        label: `Row ${row}`,
        priceDimName: 'units',
        priceMethod: 'QUANTITY',
        unitRate: 0.01,
        attributeValues: times(100, (index) => ({
          attributeName: `a${index}`,
          attributeValue: `v${row}-${index}`,
        })),
      }));
      const body = textOf({ currency: 'USD', rows });
      const path = `${external}/services/${serviceId}/rate-cards`;
      await attacker.send({ path, method: 'POST', body });
      await attacker.flood(() => ({ path: `${path}/USD`, method: 'PUT', body }));
    },
  },
  {
    name: 'cards of 8,000 short rows',
    operations: ['replaceRateCard', 'getRateCard', 'listRateCardVersions'],
    async run(attacker) {
      const serviceId = await makeService(attacker, { priceableAttributes: [attribute] });
      const rows = times(8_000, (row) => ({
        label: `R${row}`,
        priceDimName: 'units',
        priceMethod: 'QUANTITY',
        unitRate: 0.01,
      }));
      const body = textOf({ currency: 'USD', rows });
      const path = `${external}/services/${serviceId}/rate-cards`;
      await attacker.send({ path, method: 'POST', body });
      await attacker.flood((index) =>
        index % 8 === 0
          ? { path: `${path}/USD`, method: 'PUT', body }
          : { path: `${path}${index % 2 === 0 ? '/USD' : '/USD/versions?size=20'}` },
      );
    },
  },
  {
    name: 'services with the most attributes and logic',
    operations: ['createService', 'updateService', 'runCloneService'],
    async run(attacker) {
      const service = {
        priceableAttributes: times(450, (index) => ({ ...attribute, name: `u${index}` })),
        inputAttributes: times(450, (index) => ({
          name: `i${index}`,
          dimensionDataType: 'String',
        })),
        pricingLogic: times(3, (index) => ({
          ...dividing(40, 70),
          name: `l${index}`,
          steps: times(40, (step) => ({ name: `s${step}`, formula: '1 / 3' })),
          priceOutput: 's39',
        })),
      };
      const id = await makeService(attacker, service);
      await attacker.flood((index) =>
        index % 2 === 0
          ? {
              path: `${external}/run/billing/service/clone`,
              method: 'POST',
              body: textOf({ Service_ID: id }),
            }
          : {
              path: `${external}/services`,
              method: 'POST',
              body: textOf({ name: `m-${attacker.stamp}-${index}`, currency: 'USD', ...service }),
            },
      );
    },
  },
  {
    name: 'formulas nested and long, checked again and again',
    operations: ['createPricingLogic', 'createRateComputation', 'validateRateComputations'],
    async run(attacker) {
      const serviceId = await makeService(attacker, {
        priceableAttributes: [attribute],
        rateCards: [flatCard],
      });
      const formula = `${'('.repeat(49)}units${')'.repeat(49)}${' + Ceil(units)'.repeat(130)}`;
      const steps = times(200, (index) => ({ name: `s${index}`, formula }));
      const logic = {
        name: 'Long',
        priceOutput: 's199',
        transactionDimension: 'Billed account',
        steps,
      };
      const body = textOf(logic);
      await attacker.flood(() => ({
        path: `${external}/services/${serviceId}/pricing-logic`,
        method: 'POST',
        body,
      }));
    },
  },
];
