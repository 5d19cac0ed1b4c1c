import { expect } from 'chai';
import { dayFromToday } from '../../support/billing/catalog.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('how much may belong together', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  /** Adds what would take thousands of requests: the last ones are what is tried. */
  const fill = (sql: string, ...values: readonly unknown[]) =>
    asOwner(instance.databaseUrl, (client) => client.query(sql, [tenant.id, ...values]));

  const made = async (path: string, body: object) =>
    (await tenant.post(`${external}${path}`, body).expect(201)).body;
  const makeService = (name: string) =>
    made('/services', { name, priceableAttributes: [{ name: 'a', dimensionDataType: 'Number' }] });
  const makeAccount = (name: string) => made('/accounts', { name, externalId: name });

  async function expectConflict(path: string, body: object, message: string): Promise<void> {
    const { body: answer } = await tenant.post(path, body).expect(409);
    expect(JSON.stringify(answer)).to.include(message);
  }

  it('1,000 addresses of an account', async () => {
    const { id } = await makeAccount('addresses');
    await fill(
      `insert into address (tenant_id, id, account_id, position, line1)
       select $1, gen_random_uuid(), $2, n, 'x' from generate_series(1, 999) as n`,
      id,
    );
    const path = `${external}/accounts/${id}/addresses`;
    const { body: last } = await tenant.post(path, { line1: 'y' }).expect(201);
    await expectConflict(path, { line1: 'z' }, 'at most 1000');
    await tenant.delete(`${path}/${last.id}`).expect(204);
    await tenant.post(path, { line1: 'z' }).expect(201);
  });

  it('2,500 attributes and 100 pricing logics of a service', async () => {
    const { id } = await makeService('attributes');
    await fill(
      `insert into attribute (tenant_id, id, service_id, kind, position, name, dimension_data_type)
       select $1, gen_random_uuid(), $2, 'INPUT', n, 'input ' || n, 'Number'
       from generate_series(1, 2498) as n`,
      id,
    );
    const path = `${external}/services/${id}`;
    const attribute = (name: string) => ({ name, dimensionDataType: 'Number' });
    await tenant.post(`${path}/priceable-attributes`, attribute('b')).expect(201);
    await expectConflict(`${path}/priceable-attributes`, attribute('c'), 'at most 2500');

    const other = await makeService('logics');
    await fill(
      `insert into pricing_logic (tenant_id, id, service_id, seq_no, name, price_output,
         transaction_dimension, usage_type, steps)
       select $1, gen_random_uuid(), $2, n, 'logic ' || n, 's', 't', 'Charge', '[]'
       from generate_series(1, 100) as n`,
      other.id,
    );
    await expectConflict(
      `${external}/services/${other.id}/pricing-logic`,
      {
        name: 'n',
        priceOutput: 's',
        transactionDimension: 't',
        steps: [{ name: 's', formula: '1' }],
      },
      'at most 100',
    );
  });

  it('64 MiB of prices of a service over all their versions, and 16 MiB of present ones', async () => {
    const { id } = await makeService('versions');
    const cards = `${external}/services/${id}/rate-cards`;
    const rows = [{ priceDimName: 'a', label: 'y', priceMethod: 'NO_PRICE' }];
    await tenant.post(cards, { currency: 'USD', rows }).expect(201);
    const addRows = (count: number) =>
      fill(
        `insert into rate_card_row (tenant_id, id, rate_card_id, position, attribute_id,
           attribute_name, label, usage_type, price_method, rates, attribute_values)
         select $1, gen_random_uuid(), card.id, n, attribute.id, 'a', repeat('x', 4000), 'Charge',
           'NO_PRICE', '{}', '[]'
         from generate_series(2, $3::int) as n, rate_card as card, attribute
         where card.service_id = $2 and card.currency = 'USD' and card.version_no = 1
           and attribute.service_id = $2`,
        id,
        count,
      );
    // 4,304 bytes a row: 16 MiB are 3,898 of them.
    await addRows(3_900);
    await expectConflict(cards, { currency: 'EUR', rows }, 'at most 16 MiB');
    await fill(
      `update rate_card set from_date = '2026-01-01' where service_id = $2 and tenant_id = $1`,
      id,
    );
    // What takes the place of the large one today, it has to be: one to come leaves it there.
    const version = { currency: 'USD', rows, fromDate: dayFromToday(1) };
    await expectConflict(`${cards}/USD/versions`, version, 'at most 16 MiB');
    const today = { ...version, fromDate: dayFromToday(0) };
    await tenant.post(`${cards}/USD/versions`, today).expect(201);
    await tenant.post(cards, { currency: 'EUR', rows }).expect(201);
    for (let n = 0; n < 3; n += 1) await addRows(3_900);
    await expectConflict(cards, { currency: 'GBP', rows }, 'at most 64 MiB');
    // What takes something away is not refused.
    await tenant.delete(`${cards}/EUR`).expect(204);
  });

  it('20,000 lines of an account, which can be ended and deleted all the same', async () => {
    const account = await makeAccount('lines');
    const service = await makeService('lines');
    const contract = await made('/contracts', { name: 'c', masterAccountId: account.id });
    await fill(
      `insert into contract_service (tenant_id, id, contract_id, service_id)
       select $1, gen_random_uuid(), $2, $3 from generate_series(1, 19999)`,
      contract.id,
      service.id,
    );
    const path = `${external}/contracts/${contract.id}/services`;
    const { body: line } = await tenant.post(path, { serviceId: service.id }).expect(201);
    await expectConflict(path, { serviceId: service.id }, 'at most 20000');
    const other = await made('/contracts', { name: 'd', masterAccountId: account.id });
    await expectConflict(
      `${external}/contracts/${other.id}/services`,
      { serviceId: service.id },
      'at most 20000',
    );
    await fill(
      `insert into contract_service (tenant_id, id, contract_id, service_id)
       values ($1, gen_random_uuid(), $2, $3)`,
      contract.id,
      service.id,
    );
    await tenant.delete(`${path}/${line.id}`).expect(204);
  });

  const rowsOf = (label: string) => [{ priceDimName: 'a', label, priceMethod: 'NO_PRICE' }];
  /** Changes of what is beyond a limit: each is refused for it. */
  async function expectRefused(
    changes: readonly (readonly [path: string, body: object])[],
    message: string,
  ): Promise<void> {
    for (const [path, body] of changes) {
      const { body: answer } = await tenant.put(path, body).expect(409);
      expect(answer.message, path).to.equal(message);
    }
  }

  it('nothing of a service is changed while it is beyond what it may be', async () => {
    const { id } = await makeService('changed');
    const service = `${external}/services/${id}`;
    const rows = rowsOf('y');
    for (const currency of ['USD', 'EUR'])
      await tenant.post(`${service}/rate-cards`, { currency, rows }).expect(201);
    const logic = await made(`/services/${id}/pricing-logic`, {
      name: 'n',
      priceOutput: 's',
      transactionDimension: 't',
      steps: [{ name: 's', formula: '1' }],
    });
    // As a version before the limits may have left it: 4,304 bytes a row.
    await fill(
      `insert into rate_card_row (tenant_id, id, rate_card_id, position, attribute_id,
         attribute_name, label, usage_type, price_method, rates, attribute_values)
       select $1, gen_random_uuid(), card.id, n, attribute.id, 'a', repeat('x', 4000), 'Charge',
         'NO_PRICE', '{}', '[]'
       from generate_series(2, 3900) as n, rate_card as card, attribute
       where card.service_id = $2 and card.currency = 'USD'
         and attribute.service_id = $2 and attribute.name = 'a'`,
      id,
    );
    await expectRefused(
      [
        [`${service}/rate-cards/EUR`, { currency: 'EUR', rows: rowsOf('z') }],
        [
          '/api/service-price-matrix/update',
          { serviceId: id, currencyId: 'EUR', priceMatrixRows: rowsOf('z') },
        ],
        [`${service}/pricing-logic/${logic.id}`, { name: 'm' }],
        [`/api/rate-computation/${logic.id}`, { name: 'm' }],
      ],
      'A service with its current prices: at most 16 MiB as JSON.',
    );
    // What makes it small enough is not.
    await tenant.put(`${service}/rate-cards/USD`, { currency: 'USD', rows }).expect(200);
    await tenant.put(`${service}/pricing-logic/${logic.id}`, { name: 'm' }).expect(200);
  });

  it('nothing of a line is changed while its account has more than it may', async () => {
    const account = await makeAccount('changed lines');
    const service = await makeService('of changed lines');
    const contract = await made('/contracts', { name: 'e', masterAccountId: account.id });
    const lines = `/contracts/${contract.id}/services`;
    const rateCards = [{ currency: 'USD', rows: rowsOf('y') }];
    const { id } = await made(lines, { serviceId: service.id, rateCards });
    await fill(
      `insert into contract_service (tenant_id, id, contract_id, service_id)
       select $1, gen_random_uuid(), $2, $3 from generate_series(1, 20000)`,
      contract.id,
      service.id,
    );
    await expectRefused(
      [
        [`${external}${lines}/${id}/rate-cards/USD`, { currency: 'USD', rows: rowsOf('z') }],
        [
          '/api/service-price-matrix/contract/update',
          { contractSvcId: id, currencyId: 'USD', priceMatrixRows: rowsOf('z') },
        ],
        [`/api/q2c-entity-services/CONTRACT/${id}`, { endDate: '2999-12-31' }],
      ],
      'Services of all contracts of an account: at most 20000.',
    );
  });

  it('1,000 tax rates of a tenant', async () => {
    await fill(
      `insert into tax_rate (tenant_id, id, code, rate)
       select $1, gen_random_uuid(), 'code ' || n, 1 from generate_series(1, 1000) as n`,
    );
    await expectConflict('/v1/tax-rates', { code: 'more', rate: 1 }, 'at most 1000');
  });

  it('100,000 deliveries that wait; what is beyond is given up and can be recovered', async () => {
    const other = await instance.tenant();
    const webhook = { url: 'https://127.0.0.1:9/', events: ['mdata.created'], secret: 'a secret' };
    const { body: registered } = await other.post('/v1/webhooks', webhook).expect(201);
    const path = `/v1/webhooks/${registered.id}`;
    const { body: type } = await other.post('/v1/mobjects', { name: 'waiting' }).expect(201);
    const add = (n: number) =>
      other.post(`/v1/mobjects/${type.id}/mdata`, { data: { n } }).expect(201);
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `insert into webhook_delivery (tenant_id, id, webhook_id, event_id, event, record_id, created_at)
         select $1, gen_random_uuid(), $2, gen_random_uuid(), 'webhook.test', gen_random_uuid(),
           '2020-01-01' from generate_series(1, 99999)`,
        [other.id, registered.id],
      ),
    );
    const last = async () => {
      const { body } = await other.get(`${path}/deliveries?limit=1`).expect(200);
      const { status, reason } = body.data[0];
      return { status, isExplained: String(reason).startsWith('More than 100000') };
    };
    await add(1);
    expect(await last()).to.deep.equal({ status: 'pending', isExplained: false });
    await add(2);
    expect(await last()).to.deep.equal({ status: 'failed', isExplained: true });
    const since = { since: '2026-01-01T00:00:00Z' };
    expect((await other.post(`${path}/recover`, since).expect(200)).body.deliveries).to.equal(0);
    await asOwner(instance.databaseUrl, (client) =>
      client.query("delete from webhook_delivery where event = 'webhook.test'"),
    );
    expect((await other.post(`${path}/recover`, since).expect(200)).body.deliveries).to.equal(1);
    expect(await last()).to.deep.equal({ status: 'pending', isExplained: false });
  });

  it('ten secrets of a webhook', async () => {
    const webhook = { url: 'https://127.0.0.1:9/', events: ['mdata.created'], secret: 'a secret' };
    const { body } = await tenant.post('/v1/webhooks', webhook).expect(201);
    const path = `/v1/webhooks/${body.id}`;
    for (let n = 1; n < 10; n += 1) await tenant.post(`${path}/rotate-secret`, {}).expect(200);
    await expectConflict(`${path}/rotate-secret`, {}, '10 secrets');
    await tenant.put(path, { secret: 'another' }).expect(200);
    await tenant.post(`${path}/rotate-secret`, {}).expect(200);
  });
});
