import { accountIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Short requests that ask for very much: what they name is multiplied (docs/decisions/0280, 0281). */

const external = '/api/v1/external';
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_each, index) => make(index));

const priceableAttributes = [{ name: 'units', dimensionDataType: 'Number' }];
const row = { label: 'Units', priceDimName: 'units', priceMethod: 'QUANTITY', unitRate: 0.01 };

/** An account of the attack's own with a contract on a service of its own. */
async function contract(attacker: Attacker, service: object, line: object, lines: number) {
  const name = `multiplied-${attacker.stamp}`;
  const account = { name, externalId: name, defaultCurrency: 'USD' };
  const accountId = await attacker.makeId(`${external}/accounts`, account);
  const rateCards = [{ currency: 'USD', rows: [row] }];
  const made = { name, currency: 'USD', priceableAttributes, rateCards, ...service };
  const serviceId = await attacker.makeId(`${external}/services`, made);
  const services = times(lines, () => ({ serviceId, ...line }));
  const startDate = '0001-01-01';
  await attacker.make(`${external}/contracts`, {
    name,
    masterAccountId: accountId,
    startDate,
    services,
  });
  return { name, accountId, serviceId };
}

/**
 * Services whose cards have seven versions of as many rows as a body has room for, with usage of one account
 * under each of them.
 */
async function longCards(attacker: Attacker, count: number) {
  const name = `long-${attacker.stamp}`;
  const account = { name, externalId: name, defaultCurrency: 'USD' };
  const accountId = await attacker.makeId(`${external}/accounts`, account);
  const rows = times(6_800, (index) => ({
    label: 'r',
    priceDimName: 'units',
    priceMethod: 'FLAT_RATE',
    flatRate: 1,
    attributeValues: [{ attributeName: 'g', attributeValue: `${index}` }],
  }));
  const places: string[] = [];
  for (let service = 0; service < count; service += 1) {
    const serviceId = await attacker.makeId(`${external}/services`, {
      name: `${name}-${service}`,
      currency: 'USD',
      priceableAttributes,
      inputAttributes: [{ name: 'g', dimensionDataType: 'String' }],
      rateCards: [{ currency: 'USD', rows: [row] }],
    });
    const place = `${external}/services/${serviceId}`;
    places.push(place);
    for (let month = 1; month < 8; month += 1) {
      const version = { currency: 'USD', rows, fromDate: `2024-0${month}-01` };
      await attacker.make(`${place}/rate-cards/USD/versions`, version);
    }
    const batch = times(28, (index) => ({
      message: {
        externalTransactionId: `${name}-${service}-${index}`,
        serviceId,
        billingAccountRef: name,
        eventTimestamp: `2024-0${1 + (index % 7)}-15T12:00:00Z`,
        dimensions: { units: '1', g: `${index}` },
      },
    }));
    await attacker.make('/v1/ingest/usage/batch', batch);
  }
  return { accountId, places };
}

export const multipliedAttacks: readonly Attack[] = [
  {
    name: 'billing runs over a century of days, for ten lines of one account',
    operations: ['executeWorkflow'],
    isShort: true,
    async run(attacker) {
      const line = { chargeFrequency: 'Daily', billingFrequency: 'Daily' };
      const subscription = { serviceType: 'Subscription' };
      const { accountId } = await contract(attacker, subscription, line, 10);
      await attacker.flood((index) => {
        // More charges than a run may make of an account, then nearly as many as it may.
        const periodStart = index % 2 === 0 ? '1927-01-01' : '2021-06-01';
        const data = { periodStart, periodEnd: '2026-10-31', accountId, dryRun: index % 3 > 0 };
        const body = JSON.stringify({ data, async: true });
        return { path: '/v1/workflows/billing-run/execute', method: 'POST', body };
      }, 4);
    },
  },
  {
    name: 'billing runs over usage at 25,000 rates of one account',
    seconds: 40,
    async run(attacker) {
      const name = `rates-${attacker.stamp}`;
      const account = { name, externalId: name, defaultCurrency: 'USD' };
      const accountId = await attacker.makeId(`${external}/accounts`, account);
      // Each region has a rate of its own, and so an item.
      const rows = times(5_000, (index) => ({
        ...row,
        unitRate: index + 1,
        attributeValues: [{ attributeName: 'region', attributeValue: `${index}` }],
      }));
      for (let service = 0; service < 5 && !attacker.isOver(); service += 1) {
        const serviceId = await attacker.makeId(`${external}/services`, {
          name: `${name}-${service}`,
          currency: 'USD',
          priceableAttributes,
          rateCards: [{ currency: 'USD', rows }],
        });
        for (let from = 0; from < rows.length && !attacker.isOver(); from += 1_000) {
          const batch = times(1_000, (index) => ({
            message: {
              externalTransactionId: `${name}-${service}-${from + index}`,
              serviceId,
              billingAccountRef: name,
              eventTimestamp: '2026-10-05T12:00:00Z',
              dimensions: { units: '1', region: `${from + index}` },
            },
          }));
          await attacker.make('/v1/ingest/usage/batch', batch);
        }
      }
      await attacker.flood(() => {
        const data = {
          periodStart: '2026-10-01',
          periodEnd: '2026-10-31',
          accountId,
          dryRun: true,
        };
        const body = JSON.stringify({ data, async: true });
        return { path: '/v1/workflows/billing-run/execute', method: 'POST', body };
      }, 4);
    },
  },
  {
    name: 'one account with 17,000 lines: its bills made, void, read and tried',
    operations: ['getNextInvoice', 'voidInvoice', 'getInvoice', 'explainInvoice', 'previewVoid'],
    isShort: true,
    // Contracts are made first.
    seconds: 75,
    async run(attacker) {
      const subscription = {
        serviceType: 'Subscription',
        rateCards: [
          {
            currency: 'USD',
            rows: [{ label: 'Fee', priceDimName: 'units', priceMethod: 'FLAT_RATE', flatRate: 1 }],
          },
        ],
      };
      const line = { chargeFrequency: 'Monthly', billingFrequency: 'Monthly' };
      const { name, accountId, serviceId } = await contract(attacker, subscription, line, 1_000);
      // As PostgreSQL does by itself within a minute: each contract is weighed with all before it.
      await attacker.query(
        'analyze contract, contract_service, attribute, rate_card, rate_card_row',
      );
      for (let count = 1; count < 17; count += 1) {
        await attacker.make(`${external}/contracts`, {
          name: `${name}-${count}`,
          masterAccountId: accountId,
          startDate: '2026-09-01',
          services: times(1_000, () => ({ serviceId, ...line })),
        });
      }
      const month = { periodStart: '2026-10-01', periodEnd: '2026-10-31', accountId };
      const run = (data: object) => ({
        path: '/v1/workflows/billing-run/execute',
        method: 'POST' as const,
        body: JSON.stringify({ data }),
      });
      let invoice = '';
      const billAndVoid = async (): Promise<void> => {
        await attacker.send(run(month));
        const listed = await attacker.send({
          path: `${external}/invoices?accountId=${accountId}&status=open`,
        });
        const [found] =
          (JSON.parse(listed.text) as { data?: { content: { Id: string }[] } }).data?.content ?? [];
        if (!found) return;
        invoice = found.Id;
        await attacker.make(`/v1/invoices/${invoice}/void`, { reason: 'Again.' });
      };
      const reads = () => [
        { path: `/v1/accounts/${accountId}/next-invoice` },
        run({ ...month, dryRun: true }),
        { path: `${external}/invoices/${invoice}` },
        { path: `/v1/invoices/${invoice}/explain` },
        { path: `/v1/invoices/${invoice}/void/preview`, method: 'POST' as const },
      ];
      await Promise.all([
        attacker.repeat(billAndVoid, 1),
        attacker.flood((index) => reads()[index % 5] ?? run(month), 16),
      ]);
    },
  },
  {
    name: 'seven versions of cards of 6,800 rows, of eight services that one account uses',
    operations: ['previewRepricing'],
    seconds: 100,
    async run(attacker) {
      const { accountId, places } = await longCards(attacker, 8);
      const body = JSON.stringify({
        accountId,
        from: '2024-01-01',
        to: '2024-10-01',
        changes: [{ kind: 'usage', factor: 1.2 }],
      });
      await attacker.flood((index) => {
        if (index % 4 === 0) return { path: '/v1/repricings/preview', method: 'POST', body };
        const place = places[index % places.length] ?? '';
        return { path: index % 4 === 1 ? place : `${place}/rate-cards/USD/versions?size=20` };
      }, 32);
    },
  },
  {
    name: 'usage of a line that 1,000 accounts share',
    isShort: true,
    leavesUsage: true,
    async run(attacker) {
      const accountMap = Object.fromEntries(times(1_000, (index) => [accountIdOf(index), 1]));
      const { name, serviceId } = await contract(attacker, {}, { accountMap }, 1);
      await attacker.repeat(() => {
        const number = attacker.next();
        const batch = times(1_000, (index) => ({
          message: {
            externalTransactionId: `${name}-${number}-${index}`,
            serviceId,
            billingAccountRef: name,
            eventTimestamp: '2026-10-05T12:00:00Z',
            dimensions: { units: '7' },
          },
        }));
        const body = JSON.stringify(batch);
        return attacker.send({ path: '/v1/ingest/usage/batch', method: 'POST', body });
      }, 1);
    },
  },
];
