import { Service } from '../../../src/models/catalog/service.js';
import { external, type TestTenant } from '../servers/instance.js';

export const services = `${external}/services`;
export const noSuchId = '00000000-0000-7000-8000-000000000000';

export const calls = { name: 'API Calls', dimensionDataType: 'Number' };
export const storage = { name: 'Storage', dimensionDataType: 'Number' };

/** A row that charges so much per call. */
export const callsRow = (unitRate: number, more: object = {}) => ({
  priceDimName: 'API Calls',
  label: 'Calls',
  priceMethod: 'QUANTITY',
  unitRate,
  ...more,
});

export const card = (currency: string, ...rows: object[]) => ({ currency, rows });

export const logic = (formula: string, more: object = {}) => ({
  name: 'Charge',
  priceOutput: 'total',
  transactionDimension: 'Customer',
  steps: [{ name: 'total', formula }],
  ...more,
});

/**
 * SQL that adds so many rows of 40,000 characters, which no usage is priced by, to every version of the cards
 * of a service (`$2`) of a tenant (`$1`).
 */
export const longRowsSql = (rows: number): string => `
  insert into rate_card_row (tenant_id, id, rate_card_id, position, attribute_id,
    attribute_name, label, usage_type, price_method, rates, attribute_values)
  select $1, gen_random_uuid(), card.id, n, attribute.id, 'api_calls', repeat('x', 40000), 'Charge',
    'NO_PRICE', '{}', '[{"attributeName": "region", "attributeValue": "nowhere"}]'
  from generate_series(2, ${rows + 1}) as n, rate_card as card, attribute
  where card.service_id = $2 and attribute.service_id = $2 and attribute.name = 'api_calls'`;

let count = 0;

/** A service of a name of its own, as its creation answered. */
export async function makeService(
  tenant: TestTenant,
  fields: object = { priceableAttributes: [calls] },
) {
  count += 1;
  const { body } = await tenant.post(services, { name: `Service ${count}`, ...fields }).expect(201);
  return body as Record<string, never> & { id: string; name: string };
}

/** A service with two dimensions and an input attribute, and the address of its rate cards. */
export async function makeServiceWithCards(tenant: TestTenant, fields: object = {}) {
  const service = await makeService(tenant, {
    priceableAttributes: [calls, storage],
    inputAttributes: [{ name: 'seats', dimensionDataType: 'Number' }],
    ...fields,
  });
  const [first] = service['priceableAttributes'] as unknown as { id: string }[];
  const address = `${services}/${service.id}/rate-cards`;
  return { id: service.id, address, callsId: first?.id ?? '' };
}

/** What the approval flow will do. */
export async function approveService(tenant: TestTenant, id: string): Promise<void> {
  await Service.query(tenant.scope.db.read)
    .forTenant(tenant.id)
    .findById(id)
    .patch({ approvalStatus: 'Approved' });
}

/** The day `days` after today, in UTC. */
export const dayFromToday = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

export const names = (items: readonly { name: string }[]) => items.map(({ name }) => name);

/** A service with parts of every kind. */
export const whole = {
  label: 'API',
  code: 'api',
  description: 'Calls and storage',
  currency: 'Euro',
  serviceType: 'usage',
  priceableAttributes: [
    { ...calls, isMeterDimension: true, meterResetFrequency: 'half yearly' },
    { ...storage, label: 'GB', isProration: false, dimValues: [{ label: 'One', value: '1' }] },
  ],
  inputAttributes: [{ name: 'seats', dimensionDataType: 'number' }],
  rateCards: [
    card(
      'usd',
      {
        priceDimName: 'API Calls',
        label: 'Calls',
        priceMethod: 'TIERED',
        resetFrequency: 'monthly',
        rateCardTiers: [
          { tierNum: 1, tierMinVal: 0, tierMaxVal: 100, tierUnitRate: 0 },
          { tierNum: 2, tierMinVal: 101, tierMaxVal: null, tierUnitRate: 0.5, flatRate: true },
        ],
      },
      {
        priceDimName: 'Storage',
        label: 'Storage',
        priceMethod: 'FLAT_RATE',
        flatRate: 2,
        usageType: 'payout',
        attributeValues: [{ attributeName: 'region', attributeValue: 'EU' }],
      },
    ),
    card('EUR', callsRow(0.25)),
  ],
  pricingLogic: [
    logic('Price(API Calls, seats) + region', { chargeType: 'usage' }),
    logic('Price(Storage, 1)', { name: 'Second', usageType: 'payout' }),
  ],
};
