import { expect } from 'chai';
import { contracts, flatCard, makeLine, noSuchId } from '../../support/billing/contracts.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('exception cards', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/resources.md R67, R72
  it('come and go, and the line says so', async () => {
    const { path, contractId } = await makeLine(tenant);
    const cards = `${path}/rate-cards`;
    const exceptionPricing = async () => {
      const { body: line } = await tenant.get(path).expect(200);
      const { body: contract } = await tenant.get(`${contracts}/${contractId}`).expect(200);
      const { body: list } = await tenant.get(`${contracts}/${contractId}/services`).expect(200);
      return [line, contract.services[0], list.content[0]].map((item) => item.exceptionPricing);
    };
    const { body: none } = await tenant.get(cards).expect(200);
    expect(none).to.deep.equal({ content: [], page: 0, size: 20, totalElements: 0, totalPages: 0 });
    expect(await exceptionPricing()).to.deep.equal([false, false, false]);

    const { body: card } = await tenant.post(cards, flatCard('us dollar', 1.25)).expect(201);
    expect(card).to.include({ currency: 'USD', versionNo: 1, isCurrent: true });
    expect(card).to.not.have.property('toDate');
    expect(card.rows[0]).to.include({ priceMethod: 'FLAT_RATE', flatRate: 1.25 });
    expect(await exceptionPricing()).to.deep.equal([true, true, true]);
    const { body: got } = await tenant.get(`${cards}/USD`).expect(200);
    expect(got).to.deep.equal(card);
    const { body: byName } = await tenant.get(`${cards}/US%20Dollar`).expect(200);
    expect(byName).to.deep.equal(card);
    const { body: list } = await tenant.get(cards).expect(200);
    expect(list.content).to.deep.equal([card]);

    await tenant.delete(`${cards}/usd`).expect(204);
    await tenant.get(`${cards}/USD`).expect(404);
    await tenant.get(`${cards}/USD/versions`).expect(404);
    await tenant.delete(`${cards}/USD`).expect(404);
    await tenant.put(`${cards}/USD`, flatCard('USD', 1)).expect(404);
    expect(await exceptionPricing()).to.deep.equal([false, false, false]);
  });

  // spec/resources.md R71
  it('get a new version with every PUT, though the service is a draft', async () => {
    const { path } = await makeLine(tenant);
    const cards = `${path}/rate-cards`;
    const { body: first } = await tenant.post(cards, flatCard('USD', 1)).expect(201);
    const { body: second } = await tenant
      .put(`${cards}/USD`, { ...first, rows: [{ ...first.rows[0], flatRate: 2 }] })
      .expect(200);
    expect(second).to.include({ versionNo: 2, isCurrent: true });
    expect(second.rows[0]).to.include({ flatRate: 2, priceDimId: first.rows[0].priceDimId });
    await tenant.put(`${cards}/usd`, flatCard('US Dollar', 3)).expect(200);
    const { body: versions } = await tenant.get(`${cards}/USD/versions`).expect(200);
    expect(versions).to.include({ totalElements: 3, page: 0, size: 20 });
    const told = versions.content.map(
      (card: { versionNo: number; isCurrent: boolean; rows: [{ flatRate: number }] }) => [
        card.versionNo,
        card.isCurrent,
        card.rows[0].flatRate,
      ],
    );
    expect(told).to.deep.equal([
      [3, true, 3],
      [2, false, 2],
      [1, false, 1],
    ]);
    expect(versions.content[0]).to.not.have.property('toDate');
    expect(versions.content[1].toDate).to.match(/^\d{4}-\d{2}-\d{2}$/);
    const { body: page } = await tenant.get(`${cards}/USD/versions?size=1&page=2`).expect(200);
    expect(page.content[0].versionNo).to.equal(1);

    await tenant.delete(`${cards}/USD`).expect(204);
    const { body: again } = await tenant.post(cards, flatCard('USD', 9)).expect(201);
    expect(again.versionNo).to.equal(1);
    const { body: fresh } = await tenant.get(`${cards}/USD/versions`).expect(200);
    expect(fresh.totalElements).to.equal(1);
  });

  // spec/resources.md R73
  it('leave the list price alone', async () => {
    const { path, serviceId } = await makeLine(tenant);
    const list = `${external}/services/${serviceId}/rate-cards/USD`;
    const { body: before } = await tenant.get(list).expect(200);
    await tenant.post(`${path}/rate-cards`, flatCard('USD', 1)).expect(201);
    await tenant.put(`${path}/rate-cards/USD`, flatCard('USD', 2)).expect(200);
    await tenant.delete(`${path}/rate-cards/USD`).expect(204);
    const { body: after } = await tenant.get(list).expect(200);
    expect(after).to.deep.equal(before);
  });

  // spec/resources.md R71
  it('are one for each currency, however many ask at once', async () => {
    const { path } = await makeLine(tenant);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => tenant.post(`${path}/rate-cards`, flatCard('EUR', 1))),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      201, 409, 409, 409, 409, 409, 409, 409, 409, 409,
    ]);
    const puts = await Promise.all(
      Array.from({ length: 5 }, () => tenant.put(`${path}/rate-cards/EUR`, flatCard('EUR', 2))),
    );
    const versions = puts.map(({ body }) => body.versionNo as number).sort();
    expect(versions).to.deep.equal([2, 3, 4, 5, 6]);
  });

  it('are refused when wrong', async () => {
    const { path } = await makeLine(tenant, { rateCards: [flatCard('USD', 1)] });
    const cards = `${path}/rate-cards`;
    const { body: conflict } = await tenant.post(cards, flatCard('us dollar', 1)).expect(409);
    expect(conflict.message).to.contain('USD');
    const row = { priceDimName: 'Calls', label: 'x' };
    const faults: [body: object, field: string][] = [
      [{ rows: [{ ...row, priceMethod: 'NO_PRICE' }] }, 'currency'],
      [{ currency: 'EUR', rows: [] }, 'rows'],
      [{ currency: 'EUR' }, 'rows'],
      [{ currency: 'XXQ', rows: [{ ...row, priceMethod: 'NO_PRICE' }] }, 'currency'],
      [{ currency: 'EUR', rows: [{ ...row, priceMethod: 'CHEAP' }] }, 'rows[0].priceMethod'],
      [
        { currency: 'EUR', rows: [{ ...row, priceMethod: 'FLAT_RATE', flatRate: 1, unitRate: 1 }] },
        'rows[0].unitRate',
      ],
      [{ currency: 'EUR', rows: [{ label: 'x', priceMethod: 'NO_PRICE' }] }, 'priceDimName'],
      [flatCard('EUR', 1, 'Nothing'), 'rows[0].priceDimName'],
    ];
    for (const [body, field] of faults) {
      const { body: posted } = await tenant.post(cards, body).expect(400);
      expect(posted.message).to.contain(field);
    }
    const { body: mismatch } = await tenant.put(`${cards}/USD`, flatCard('EUR', 1)).expect(400);
    expect(mismatch.message).to.contain('currency');
    await tenant.put(`${cards}/EUR`, flatCard('EUR', 1)).expect(404);
    await tenant.get(`${cards}/doubloon`).expect(404);
    await tenant.get(`${cards}?size=0`).expect(400);
    const { body: list } = await tenant.get(cards).expect(200);
    expect(list.totalElements).to.equal(1);
    expect(list.content[0].versionNo).to.equal(1);
  });

  it('belong to their line and tenant', async () => {
    const { path, contractId } = await makeLine(tenant, { rateCards: [flatCard('USD', 1)] });
    const other = await instance.tenant();
    for (const [client, cards] of [
      [other, `${path}/rate-cards`],
      [tenant, `${contracts}/${contractId}/services/${noSuchId}/rate-cards`],
      [tenant, `${contracts}/${noSuchId}/services/${path.split('/').pop()}/rate-cards`],
    ] as const) {
      await client.get(cards).expect(404);
      await client.get(`${cards}/USD`).expect(404);
      await client.get(`${cards}/USD/versions`).expect(404);
      await client.post(cards, flatCard('EUR', 1)).expect(404);
      await client.put(`${cards}/USD`, flatCard('USD', 2)).expect(404);
      await client.delete(`${cards}/USD`).expect(404);
    }
    const { body } = await tenant.get(`${path}/rate-cards/USD`).expect(200);
    expect(body.rows[0].flatRate).to.equal(1);
  });
});
