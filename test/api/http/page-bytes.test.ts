import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { watchLoop } from '../../support/servers/event-loop.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const megabyte = 1_000_000;
const text = 'x'.repeat(megabyte);
const rows = 12;

/** What a list answers of `limit=100` from an offset on. */
interface Page {
  readonly data: readonly unknown[];
  readonly pagination: object;
}

describe('pages of rows that are long', function () {
  // Of each kind more than 8 MiB are written.
  this.timeout(120_000);
  const instance = useInstance();
  const tenant = useTenant(instance);

  const insert = (sql: string, values: readonly unknown[]) =>
    asOwner(instance.databaseUrl, (client) => client.query(sql, [...values]));

  const read = async (path: string, offset: number): Promise<Page> => {
    const mark = path.includes('?') ? '&' : '?';
    return (await tenant.get(`${path}${mark}limit=100&offset=${offset}`).expect(200)).body;
  };

  /** Pages of 8 and of 4: eight times a million bytes are below 8 MiB, nine are above. */
  async function expectTwoPages(path: string): Promise<void> {
    const { grownMiB } = await watchLoop(async () => {
      const first = await read(path, 0);
      expect(first.data).to.have.length(8);
      expect(first.pagination).to.deep.equal({
        total: rows,
        limit: 8,
        offset: 0,
        hasMore: true,
        nextOffset: 8,
      });
      const second = await read(path, 8);
      expect(second.data).to.have.length(4);
      expect(second.pagination).to.deep.equal({
        total: rows,
        limit: 100,
        offset: 8,
        hasMore: false,
      });
    });
    expect(grownMiB).to.be.below(300);
  }

  it('end at 8 MiB: executions', async () => {
    const input = JSON.stringify({ data: { text } });
    for (let n = 0; n < rows; n += 1) {
      await insert(
        `insert into execution (tenant_id, id, run_id, workflow, workflow_id, status, input, started_at)
         values ($1, $2, $3, 'createAccount', $4, 'running', $5, now())`,
        [tenant.id, newId(), newId(), `w-${n}`, input],
      );
    }
    await expectTwoPages('/v1/workflows/account-create/executions');
  });

  it('end at 8 MiB: the audit', async () => {
    const { body: type } = await tenant.post('/v1/mobjects', { name: 'audited' }).expect(201);
    for (let n = 0; n < rows; n += 1) {
      await tenant.post(`/v1/mobjects/${type.id}/mdata`, { data: { text } }).expect(201);
    }
    await expectTwoPages('/v1/audit?entity=record');
  });

  it('end at 8 MiB: usage events that wait, and those that do not', async () => {
    const other = await instance.tenant();
    const message = { externalTransactionId: 'long', text };
    for (let n = 0; n < rows; n += 1) {
      await other.post('/v1/ingest/usage', { message: { ...message, n } }).expect(200);
    }
    const list = async (path: string) => (await other.get(path).expect(200)).body;
    const waiting = await list('/v1/usage-events?limit=100');
    expect(waiting.data).to.have.length(8);
    expect(waiting.pagination).to.include({ total: rows, limit: 8, nextOffset: 8 });
    const rest = await list('/v1/usage-events?limit=100&offset=8');
    expect(rest.data).to.have.length(4);
    for (let n = 0; n < rows; n += 1) {
      await insert(
        `insert into usage_event (tenant_id, id, partition, "offset", status, message, workflow_id,
           run_id, received_at) values ($1, $2, 0, $3, 'rejected', $4, 'w', $5, now())`,
        [tenant.id, newId(), n, JSON.stringify({ text }), newId()],
      );
    }
    await insert(
      `insert into usage_consumer (tenant_id, partition, next_offset, rejected)
       values ($1, 0, $2::int, $2::int)`,
      [tenant.id, rows],
    );
    const rejected = await read('/v1/usage-events?status=rejected', 0);
    expect(rejected.data).to.have.length(8);
    expect(rejected.pagination).to.include({ limit: 8, nextOffset: 8 });
    expect((await read('/v1/usage-events?status=rejected', 8)).data).to.have.length(4);
  });

  it('end at 8 MiB: deliveries of a webhook', async () => {
    const { body: webhook } = await tenant
      .post('/v1/webhooks', {
        url: 'https://127.0.0.1:9/',
        events: ['mdata.created'],
        secret: 'a secret',
      })
      .expect(201);
    await insert(
      `insert into webhook_delivery (tenant_id, id, webhook_id, event_id, event, record_id, status,
         created_at)
       select $1::text, gen_random_uuid(), $2::uuid, gen_random_uuid(), 'mdata.created', gen_random_uuid(),
         'failed', now() from generate_series(1, $3::int)`,
      [tenant.id, webhook.id, rows],
    );
    await insert(
      `insert into webhook_attempt (tenant_id, delivery_id, round, number, started_at, duration_ms,
         answer)
       select tenant_id, id, 1, number, now(), 1, repeat('x', 4000)
       from webhook_delivery, generate_series(1, 240) as number where webhook_id = $1`,
      [webhook.id],
    );
    // 240 attempts of 4,200 bytes are 1,008,000.
    await expectTwoPages(`/v1/webhooks/${webhook.id}/deliveries`);
  });

  it('end at 8 MiB: record types', async () => {
    const values = (n: number) =>
      Array.from({ length: 250 }, (_, at) => `${n} ${at} ${'x'.repeat(990)}`);
    for (let n = 0; n < 40; n += 1) {
      const fields = [{ name: 'kind', type: 'string', values: values(n) }];
      await tenant.post('/v1/mobjects', { name: `long ${n}`, fields }).expect(201);
    }
    const page = await read('/v1/mobjects', 0);
    expect(page.data.length).to.be.within(30, 35);
    expect(page.pagination).to.include({ limit: page.data.length, nextOffset: page.data.length });
  });

  it('end at 8 MiB: cards of a service, in pages of a smaller size', async () => {
    const { body: service } = await tenant
      .post(`${external}/services`, {
        name: 'long cards',
        priceableAttributes: [{ name: 'a', dimensionDataType: 'Number' }],
      })
      .expect(201);
    const cards = `${external}/services/${service.id}/rate-cards`;
    const row = { priceDimName: 'a', label: 'y', priceMethod: 'NO_PRICE', description: 'z' };
    const long = Array.from({ length: 9_000 }, () => row);
    for (const currency of ['EUR', 'USD', 'GBP', 'INR']) {
      await tenant.post(cards, { currency, rows: long }).expect(201);
    }
    const { body: first } = await tenant.get(`${cards}?size=20`).expect(200);
    expect(first.content.length).to.be.within(1, 3);
    expect(first).to.include({ page: 0, size: first.content.length, totalElements: 4 });
    const seen = first.content.map(({ currency }: { currency: string }) => currency);
    for (let page = 1; page * first.size < 4; page += 1) {
      const { body } = await tenant.get(`${cards}?page=${page}&size=${first.size}`).expect(200);
      seen.push(...body.content.map(({ currency }: { currency: string }) => currency));
    }
    expect(seen).to.deep.equal(['EUR', 'GBP', 'INR', 'USD']);
  });
});
