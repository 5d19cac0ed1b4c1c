import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import { runBilling } from '../../support/billing/billing-run.js';
import { createAccount, createService, rate, usage } from '../../support/billing/usage.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const seats = { name: 'seats', dimensionDataType: 'Number' };
const seatsCard = (unitRate: number) => ({
  currency: 'USD',
  rows: [{ priceDimName: 'seats', label: 'Seats', priceMethod: 'QUANTITY', unitRate }],
});

// docs/decisions/0308
describe('an attribute of a service that is renamed', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  /** A service at 31 for each seat, and a line of it; `rename` changes the name in the catalog. */
  const prepare = async (accountRef: string, service: object, line: object = {}) => {
    const masterAccountId = await createAccount(tenant, accountRef);
    const serviceId = await createService(tenant, accountRef, {
      priceableAttributes: [seats],
      rateCards: [seatsCard(31)],
      ...service,
    });
    const { body } = await tenant
      .post(`${external}/contracts`, {
        masterAccountId,
        name: accountRef,
        currency: 'USD',
        startDate: '2026-01-01',
        services: [{ serviceId, billingFrequency: 'Monthly', ...line }],
      })
      .expect(201);
    const lineAddress = `${external}/contract-services/${body.services[0].id}`;
    const attributes = `${external}/services/${serviceId}/priceable-attributes`;
    const rename = async (name: string) => {
      const { body: page } = await tenant.get(attributes).expect(200);
      await tenant.put(`${attributes}/${page.content[0].id}`, { name }).expect(200);
    };
    return { serviceId, lineAddress, rename };
  };

  it('is renamed on its lines, so that they keep what they are charged for', async () => {
    const { lineAddress, rename } = await prepare(
      'three-seats',
      { serviceType: 'Subscription' },
      { dimensionValues: { seats: 3, note: 'x' } },
    );
    const march = async () => {
      const { invoices } = await runBilling(tenant, '2026-03-01', '2026-03-31', {
        accountId: 'three-seats',
        dryRun: true,
      });
      return invoices?.map(({ amount }) => amount);
    };
    // 3 x 31
    expect(await march()).to.deep.equal([93]);
    await rename('places');
    expect(await march()).to.deep.equal([93]);
    const { body: line } = await tenant.get(lineAddress).expect(200);
    expect(line.dimensionValues).to.deep.equal({ places: 3, note: 'x' });
    expect(line.priceableAttributes[0]).to.include({ name: 'places', dimensionValText: '3' });
    await tenant.put(lineAddress, line).expect(200);
    expect(await march()).to.deep.equal([93]);
  });

  it('is unknown under its old name, where it was priced as one', async () => {
    const { serviceId, rename } = await prepare('old-name', {});
    await rename('places');
    const charge = (dimensions: object) =>
      rate(tenant, usage('old-name', serviceId, { dimensions }));
    expect((await charge({ seats: '10' })).code).to.equal('UNKNOWN_DIMENSION');
    // 10 x 31
    expect((await charge({ places: '10' })).ratedTransactions[0].amount).to.equal(310);
  });

  it('is renamed on exception cards that price the line’s copy', async () => {
    const { serviceId, rename } = await prepare('exception', {}, { rateCards: [seatsCard(7)] });
    await rename('places');
    const charged = await rate(
      tenant,
      usage('exception', serviceId, { dimensions: { places: '10' } }),
    );
    // 10 x 7
    expect(charged.ratedTransactions[0].amount).to.equal(70);
  });

  it('leaves alone a line that has an attribute of the new name already', async () => {
    const own = [
      { ...seats, dimensionValText: '3' },
      { ...seats, name: 'places', dimensionValText: '5' },
    ];
    const { lineAddress, rename } = await prepare('both', {}, { priceableAttributes: own });
    await rename('places');
    const { body } = await tenant.get(lineAddress).expect(200);
    const texts = (body.priceableAttributes as typeof own).map((each) => [
      each.name,
      each.dimensionValText,
    ]);
    expect(texts).to.deep.equal([
      ['seats', '3'],
      ['places', '5'],
    ]);
  });
});
