import { expect } from 'chai';
import {
  callsRow,
  card,
  dayFromToday,
  makeServiceWithCards,
  noSuchId,
  services,
} from '../../support/billing/catalog.js';
import { flatCard, makeLine } from '../../support/billing/contracts.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('versions of rate cards with a date', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const [today, tomorrow, yesterday] = [dayFromToday(0), dayFromToday(1), dayFromToday(-1)];
  const dated = (fromDate: unknown, unitRate = 2) => ({
    ...card('USD', callsRow(unitRate)),
    fromDate,
  });
  const make = () => makeServiceWithCards(tenant, { rateCards: [card('USD', callsRow(1))] });

  // spec/beyond.md R60, R61
  it('are made for any day, by code or name of the currency, and listed by their day', async () => {
    const { address, id } = await make();
    const { body: coming } = await tenant
      .post(`${address}/us%20dollar/versions`, dated(tomorrow))
      .expect(201);
    expect(coming).to.include({
      currency: 'USD',
      versionNo: 2,
      isCurrent: false,
      fromDate: tomorrow,
      affectedEvents: 0,
    });
    const { body: past } = await tenant
      .post(`${address}/USD/versions`, dated(yesterday, 3))
      .expect(201);
    expect(past).to.include({ versionNo: 3, isCurrent: false, toDate: yesterday });
    const { body: list } = await tenant.get(`${address}/USD/versions`).expect(200);
    expect(list.content.map(({ versionNo }: { versionNo: number }) => versionNo)).to.deep.equal([
      2, 1, 3,
    ]);
    const { body: current } = await tenant.get(`${address}/USD`).expect(200);
    // It ends because another one follows.
    expect(current).to.include({ versionNo: 1, isCurrent: true, toDate: today });
    const { body: whole } = await tenant.get(`${services}/${id}`).expect(200);
    expect(whole.rateCards).to.deep.equal([current]);
  });

  const refused: [name: string, body: object, status: number, message: string][] = [
    ['no day', card('USD', callsRow(2)), 400, 'fromDate'],
    ['a day that is none', dated('2027-02-30'), 400, 'fromDate'],
    ['null as its day', dated(null), 400, 'fromDate'],
    ['a day that is taken', dated(today), 409, `begins on ${today} already`],
    ['no rows', { ...card('USD'), fromDate: tomorrow }, 400, 'rows'],
    ['another currency', { ...card('EUR', callsRow(2)), fromDate: tomorrow }, 400, 'USD'],
    ['an unknown field', { ...dated(tomorrow), color: 'red' }, 400, 'color'],
  ];
  for (const [name, body, status, message] of refused) {
    // spec/beyond.md R60
    it(`refuse ${name}, and nothing is written`, async () => {
      const { address } = await make();
      const { body: fault } = await tenant.post(`${address}/USD/versions`, body).expect(status);
      expect(fault.message).to.include(message);
      expect((await tenant.get(`${address}/USD/versions`).expect(200)).body.totalElements).to.equal(
        1,
      );
    });
  }

  it('need a card', async () => {
    const { address } = await make();
    await tenant
      .post(`${address}/EUR/versions`, { ...card('EUR', callsRow(2)), fromDate: tomorrow })
      .expect(404);
    await tenant
      .post(`${services}/${noSuchId}/rate-cards/USD/versions`, dated(tomorrow))
      .expect(404);
  });

  // spec/beyond.md R64
  it('are removed until their day comes; numbers are not given again', async () => {
    const { address } = await make();
    const versions = `${address}/USD/versions`;
    await tenant.post(versions, dated(tomorrow)).expect(201);
    await tenant.post(versions, dated(yesterday)).expect(201);
    await tenant.delete(`${versions}/2`).expect(204, '');
    await tenant.delete(`${versions}/2`).expect(404);
    for (const number of [1, 3]) {
      const { body } = await tenant.delete(`${versions}/${number}`).expect(409);
      expect(body.message).to.include(`Version ${number} is in force since`);
    }
    for (const number of ['0', '9', 'x', '1e3', '99999999999999999999']) {
      await tenant.delete(`${versions}/${number}`).expect(404);
    }
    // The day is free again.
    const { body } = await tenant.post(versions, dated(tomorrow, 5)).expect(201);
    expect(body).to.include({ versionNo: 4 });
    expect(body.rows[0]).to.include({ unitRate: 5 });
    // A card that is deleted and made again starts at 1.
    await tenant.delete(`${address}/USD`).expect(204);
    expect(
      (await tenant.post(address, card('USD', callsRow(1))).expect(201)).body.versionNo,
    ).to.equal(1);
  });

  // spec/beyond.md R13
  it('are named where a PUT has another day than the version in force', async () => {
    const { address } = await make();
    await tenant.post(`${address}/USD/versions`, dated(tomorrow)).expect(201);
    for (const day of [tomorrow, yesterday]) {
      const { body } = await tenant.put(`${address}/USD`, dated(day)).expect(400);
      expect(body.message).to.include('POST .../rate-cards/USD/versions');
    }
    await tenant.put(`${address}/USD`, dated(today, 7)).expect(200);
    const { body: list } = await tenant.get(`${address}/USD/versions`).expect(200);
    // A draft's card is replaced in its version, and what is to come stays.
    expect(
      list.content.map((one: { versionNo: number; rows: { unitRate: number }[] }) => [
        one.versionNo,
        one.rows[0]?.unitRate,
      ]),
    ).to.deep.equal([
      [2, 2],
      [1, 7],
    ]);
  });

  // spec/beyond.md R8
  it('are catalog: OPERATOR may not, of an exception card neither', async () => {
    const other = await instance.tenant();
    const { path } = await makeLine(other);
    await other.post(`${path}/rate-cards`, flatCard('USD', 1)).expect(201);
    const operator = await instance.tenant(['OPERATOR'], other.id);
    const address = `${services}/${noSuchId}/rate-cards`;
    const exception = `${path}/rate-cards/USD/versions`;
    const body = { ...flatCard('USD', 2), fromDate: tomorrow };
    await operator.post(`${address}/USD/versions`, dated(tomorrow)).expect(403);
    await operator.post(exception, body).expect(403);
    await operator.delete(`${exception}/1`).expect(403);
    await operator.get(exception).expect(200);
    const { body: made } = await other.post(exception, body).expect(201);
    expect(made).to.include({ versionNo: 2, isCurrent: false, affectedEvents: 0 });
    await other.post(exception, body).expect(409);
    await other.delete(`${exception}/2`).expect(204);
    await other.delete(`${exception}/1`).expect(409);
    await other
      .post(`${path}/rate-cards/EUR/versions`, { ...flatCard('EUR', 1), fromDate: tomorrow })
      .expect(404);
  });

  // spec/beyond.md R4, R5
  it('are made once under a key, and audited', async () => {
    const { address } = await make();
    const send = (body: object) =>
      tenant.post(`${address}/USD/versions`, body).set('Idempotency-Key', `v-${address}`);
    const first = await send(dated(tomorrow)).expect(201);
    expect((await send(dated(tomorrow)).expect(201)).body).to.deep.equal(first.body);
    await send(dated(tomorrow, 9)).expect(409);
    const { body: audit } = await tenant.get('/v1/audit?entity=rateCard&limit=1').expect(200);
    expect(audit.data[0]).to.include({ action: 'create' });
    expect(audit.data[0].after).to.include({ fromDate: tomorrow, versionNo: 2 });
  });

  // spec/resources.md R44
  it('keep the attributes that they will price', async () => {
    const { id, address, callsId } = await makeServiceWithCards(tenant, {
      rateCards: [card('USD', { ...callsRow(1), priceDimName: 'Storage' })],
    });
    await tenant.post(`${address}/USD/versions`, dated(tomorrow)).expect(201);
    const attribute = `${services}/${id}/priceable-attributes/${callsId}`;
    await tenant.delete(attribute).expect(409);
    await tenant.delete(`${address}/USD/versions/2`).expect(204);
    await tenant.delete(attribute).expect(204);
  });

  // spec/beyond.md R60
  it('of ten that want one day, one is made', async () => {
    const { address } = await make();
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_each, index) =>
        tenant.post(`${address}/USD/versions`, dated(tomorrow, index + 2)),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      201,
      ...Array<number>(9).fill(409),
    ]);
  });
});
