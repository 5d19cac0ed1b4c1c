import { external, type TestTenant } from '../servers/instance.js';

export const contracts = `${external}/contracts`;
export const lines = `${external}/contract-services`;
export const noSuchId = '0190a000-0000-7000-8000-000000000000';

/** A flat-rate card, the shortest that there is. */
export const flatCard = (currency: string, flatRate: number, priceDimName = 'Calls') => ({
  currency,
  rows: [{ priceDimName, label: priceDimName, priceMethod: 'FLAT_RATE', flatRate }],
});

/** An account to bill. */
export async function makeAccount(
  tenant: TestTenant,
  body: object = { name: 'Customer' },
): Promise<string> {
  const answer = await tenant.post(`${external}/accounts`, body).expect(201);
  return answer.body.id as string;
}

let services = 0;

/**
 * A service with the priceable attributes Calls (metered) and Seats, the input attribute Region and
 * the transaction dimension Customer, and list prices in USD.
 */
export async function makeService(tenant: TestTenant, change: object = {}): Promise<string> {
  services += 1;
  const answer = await tenant
    .post(`${external}/services`, {
      name: `Service ${services}`,
      priceableAttributes: [
        {
          name: 'Calls',
          label: 'API calls',
          dimensionDataType: 'Number',
          isMeterDimension: true,
          meterResetFrequency: 'Monthly',
        },
        { name: 'Seats', dimensionDataType: 'Number', isProration: true },
      ],
      inputAttributes: [
        {
          name: 'Region',
          dimensionDataType: 'String',
          dimValues: [{ label: 'Europe', value: 'eu' }],
        },
      ],
      rateCards: [flatCard('USD', 10)],
      pricingLogic: [
        {
          name: 'Main',
          priceOutput: 'total',
          transactionDimension: 'Customer',
          steps: [
            { name: 'one', formula: '1' },
            { name: 'total', formula: 'Price(Calls, one)' },
          ],
        },
      ],
      ...change,
    })
    .expect(201);
  return answer.body.id as string;
}

/** A contract of a new account with one line of a new service. */
export async function makeLine(tenant: TestTenant, line: object = {}, contract: object = {}) {
  const [masterAccountId, serviceId] = [await makeAccount(tenant), await makeService(tenant)];
  const { body } = await tenant
    .post(contracts, { masterAccountId, services: [{ serviceId, ...line }], ...contract })
    .expect(201);
  const contractId = body.id as string;
  const lineId = body.services[0].id as string;
  const path = `${contracts}/${contractId}/services/${lineId}`;
  return { masterAccountId, serviceId, contractId, lineId, path };
}

/** The version by which rating knows what it has read of an account. */
export async function ratingVersion(tenant: TestTenant, accountId: string): Promise<number> {
  const row = await tenant.scope.db
    .read('account')
    .where({ id: accountId })
    .first<{ ratingVersion: string }>('ratingVersion');
  return Number(row.ratingVersion);
}
