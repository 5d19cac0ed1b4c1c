import { expect } from 'chai';
import { webhookEvents } from '../../../src/messages/webhook.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { removeAllAged } from '../../support/ageing.js';
import { without } from '../../support/http/without.js';

const anyId = '01939c6e-7a00-7000-8000-00000000dead';
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const webhook = {
  url: 'https://hooks.example/path?tenant=1',
  events: ['mdata.created', 'workflow.completed'],
  secret,
};

describe('webhooks', () => {
  let instance: TestInstance;
  let guarded: TestInstance;
  let tenant: TestTenant;
  before(async () => {
    instance = await openTestInstance();
    guarded = await openTestInstance({ webhooks: { allowsPrivateAddresses: false } });
  });
  after(async () => {
    await instance.close();
    await guarded.close();
  });
  beforeEach(async () => {
    tenant = await instance.tenant();
  });

  const register = async (changes: object = {}): Promise<string> =>
    (await tenant.post('/v1/webhooks', { ...webhook, ...changes }).expect(201)).body.id as string;

  // spec/platform.md R35
  it('are registered, and never show their secret', async () => {
    const { body } = await tenant.post('/v1/webhooks', webhook).expect(201);
    expect(Object.keys(body)).to.deep.equal(['id', 'url', 'events', 'active', 'createdAt']);
    expect(body).to.deep.include({ url: webhook.url, events: webhook.events, active: true });
    const read = await tenant.get(`/v1/webhooks/${String(body.id)}`).expect(200);
    expect(without(read.body, 'updatedAt')).to.deep.equal({
      ...body,
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
    });
    const list = await tenant.get('/v1/webhooks').expect(200);
    expect(list.body).to.deep.equal({
      data: [read.body],
      pagination: { total: 1, limit: 50, offset: 0, hasMore: false },
    });
    const audit = await tenant.get('/v1/audit?entity=webhook').expect(200);
    expect(audit.body.data).to.have.length(1);
    const dump = await asOwner(instance.databaseUrl, async (client) => {
      const { rows } = await client.query<{ text: string }>(
        `select coalesce(string_agg(t::text, ' '), '') as text from (
           select to_jsonb(webhook)::text from webhook
           union all select to_jsonb(webhook_secret)::text from webhook_secret
           union all select to_jsonb(audit)::text from audit
         ) as t`,
      );
      return rows[0]?.text ?? '';
    });
    expect(dump).to.contain('hooks.example').and.not.contain('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
  });

  // spec/platform.md R37
  it('may be told of every kind of event, each once', async () => {
    const id = await register({ events: [...webhookEvents, 'mdata.created'], active: false });
    const { body } = await tenant.get(`/v1/webhooks/${id}`).expect(200);
    expect(body).to.deep.include({ events: [...webhookEvents], active: false });
  });

  const faults: [string, object, string][] = [
    ['an unknown kind of event', { events: ['mdata.created', 'mdata.read'] }, 'events[1]'],
    ['no kind of event', { events: [] }, 'events'],
    ['events that are no list', { events: 'mdata.created' }, 'events'],
    ['an address that is none', { url: 'hooks.example' }, 'url'],
    ['an address of another protocol', { url: 'ftp://hooks.example/' }, 'url'],
    ['an address without a host', { url: 'http://' }, 'url'],
    ['an address with a bad port', { url: 'http://hooks.example:99999/' }, 'url'],
    ['an address with a user', { url: 'http://me:secret@hooks.example/' }, 'url'],
    ['an address with a fragment', { url: 'http://hooks.example/#here' }, 'url'],
    ['an address that is very long', { url: `http://hooks.example/${'x'.repeat(2000)}` }, 'url'],
    ['an empty secret', { secret: '' }, 'secret'],
    ['a secret of one byte', { secret: 'x' }, 'secret'],
    ['a secret of one byte in base64', { secret: 'whsec_eA==' }, 'secret'],
    ['a secret whose base64 is none', { secret: 'whsec_not base64' }, 'secret'],
    ['an unknown property', { name: 'mine' }, 'name'],
    ['a state that is none', { active: 'yes' }, 'active'],
  ];
  for (const [name, change, field] of faults) {
    it(`refuse ${name}, when registered and when changed`, async () => {
      const refused = await tenant.post('/v1/webhooks', { ...webhook, ...change }).expect(400);
      expect(refused.body.error).to.deep.include({ code: 'VALIDATION_ERROR' });
      expect(refused.body.error.details.field).to.equal(field);
      const id = await register();
      const kept = await tenant.put(`/v1/webhooks/${id}`, change).expect(400);
      expect(kept.body.error.details.field).to.equal(field);
    });
  }
  for (const field of ['url', 'events', 'secret']) {
    it(`refuse to be registered without ${field}`, async () => {
      const { body } = await tenant.post('/v1/webhooks', without(webhook, field)).expect(400);
      expect(body.error.details.field).to.equal(field);
    });
  }

  // spec/platform.md R42
  it('refuse private addresses unless the instance allows them', async () => {
    const stranger = await guarded.tenant();
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0177.0.0.1',
      '[::ffff:127.0.0.1]',
      'localhost',
    ]) {
      const url = `http://${host}:8080/hook`;
      const { body } = await stranger.post('/v1/webhooks', { ...webhook, url }).expect(400);
      expect(body.error.details.field, host).to.equal('url');
      await tenant.post('/v1/webhooks', { ...webhook, url }).expect(201);
    }
  });

  it('are a hundred of a tenant at most, also when they are registered at once', async () => {
    for (let n = 0; n < 95; n += 5) {
      await Promise.all([1, 2, 3, 4, 5].map(() => register()));
    }
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => tenant.post('/v1/webhooks', webhook)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    // 95 of them were there.
    expect(statuses).to.deep.equal([201, 201, 201, 201, 201, 409, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.error).to.include({
      code: 'CONFLICT',
      message: 'There are 100 webhooks already: delete one first.',
    });
    // Another tenant has its own hundred.
    await (await instance.tenant()).post('/v1/webhooks', webhook).expect(201);
  });

  // spec/platform.md R36
  it('change what is given, and keep the rest', async () => {
    const id = await register();
    const path = `/v1/webhooks/${id}`;
    const before = (await tenant.get(path).expect(200)).body as object;
    const { body } = await tenant
      .put(path, { ...before, url: 'http://hooks.example/', active: false })
      .expect(200);
    expect(without(body, 'updatedAt')).to.deep.equal({
      ...without(before, 'updatedAt'),
      url: 'http://hooks.example/',
      active: false,
    });
    const events = ['usage.rated'];
    // docs/decisions/0311: one that was switched off is not switched on by it.
    await tenant.put(path, { events, active: null }).expect(400);
    const changed = await tenant.put(path, { events }).expect(200);
    expect(changed.body).to.deep.include({ events, active: false, url: 'http://hooks.example/' });
  });

  // spec/platform.md R36
  it('are gone when they are deleted', async () => {
    const id = await register();
    await tenant.post(`/v1/webhooks/${id}/test`).expect(200);
    await tenant.delete(`/v1/webhooks/${id}`).expect(204);
    await tenant.get(`/v1/webhooks/${id}`).expect(404);
    await tenant.get(`/v1/webhooks/${id}/deliveries`).expect(404);
    await tenant.delete(`/v1/webhooks/${id}`).expect(404);
    expect((await tenant.get('/v1/webhooks').expect(200)).body.data).to.deep.equal([]);
  });

  it('that are not there are 404', async () => {
    const path = `/v1/webhooks/${anyId}`;
    await tenant.get(path).expect(404);
    await tenant.put(path, { active: false }).expect(404);
    await tenant.delete(path).expect(404);
    await tenant.post(`${path}/test`).expect(404);
    await tenant.post(`${path}/rotate-secret`, {}).expect(404);
    await tenant.post(`${path}/recover`, { since: '2026-01-01T00:00:00Z' }).expect(404);
    await tenant.get(`${path}/deliveries`).expect(404);
    const id = await register();
    const delivery = `/v1/webhooks/${id}/deliveries/${anyId}`;
    const { body } = await tenant.post(`${delivery}/redeliver`).expect(404);
    expect(body.error.message).to.equal(`There is no delivery '${anyId}'.`);
    await tenant.get('/v1/webhooks/nonsense').expect(404);
  });

  it('that are switched off send nothing, and give up what waits', async () => {
    const id = await register();
    const path = `/v1/webhooks/${id}`;
    const waiting = await tenant.post(`${path}/test`).expect(200);
    expect(waiting.body).to.deep.include({ status: 'pending', attempts: [], endedAt: null });
    await tenant.put(path, { active: false }).expect(200);
    const { body } = await tenant.get(`${path}/deliveries`).expect(200);
    expect(body.data[0]).to.deep.include({
      id: waiting.body.id,
      event: 'webhook.test',
      webhookId: id,
      recordId: id,
      status: 'failed',
      reason: 'The webhook was switched off.',
    });
    const delivery = `${path}/deliveries/${String(waiting.body.id)}`;
    for (const [action, given] of [
      [`${path}/test`, undefined],
      [`${path}/recover`, { since: '2026-01-01T00:00:00Z' }],
      [`${delivery}/redeliver`, undefined],
    ] as const) {
      const refused = await tenant.post(action, given).expect(409);
      expect(refused.body.error).to.deep.include({ code: 'CONFLICT' });
    }
  });

  // spec/platform.md R36
  it('list their deliveries by state and kind, the latest first', async () => {
    const id = await register();
    const path = `/v1/webhooks/${id}`;
    const first = await tenant.post(`${path}/test`).expect(200);
    const type = await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    const things = `/v1/mobjects/${String(type.body.id)}/mdata`;
    const record = await tenant.post(things, { data: {} }).expect(201);
    const list = async (query: string) =>
      (await tenant.get(`${path}/deliveries${query}`).expect(200)).body as {
        data: { id: string; event: string; recordId: string }[];
        pagination: object;
      };
    const all = await list('');
    expect(all.data.map(({ event, recordId }) => [event, recordId])).to.deep.equal([
      ['mdata.created', record.body.id],
      ['webhook.test', id],
    ]);
    expect((await list('?event=webhook.test')).data.map((each) => each.id)).to.deep.equal([
      first.body.id,
    ]);
    expect((await list('?status=delivered')).data).to.deep.equal([]);
    expect((await list('?status=pending&limit=1&offset=1')).pagination).to.deep.equal({
      total: 2,
      limit: 1,
      offset: 1,
      hasMore: false,
    });
    await tenant.get(`${path}/deliveries?status=lost`).expect(400);
  });

  it('have their secret rotated within bounds', async () => {
    const path = `/v1/webhooks/${await register()}/rotate-secret`;
    const made = await tenant.post(path, {}).expect(200);
    expect(made.body.secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const validMs = Date.parse(made.body.formerValidUntil as string) - Date.now();
    // A day, when nothing is said.
    expect(validMs / 3_600_000).to.be.within(23.9, 24);
    const given = await tenant.post(path, { secret, overlapSeconds: 60 }).expect(200);
    expect(given.body.secret).to.equal(secret);
    await tenant.post(path, { overlapSeconds: -1 }).expect(400);
    await tenant.post(path, { secret: 'whsec_' }).expect(400);
  });

  it('keep deliveries that have ended for thirty days, with their events', async () => {
    const id = await register();
    const path = `/v1/webhooks/${id}`;
    await tenant.post(`${path}/test`).expect(200);
    // Switched off, it gives up what waits: that has ended.
    await tenant.put(path, { active: false }).expect(200);
    const waiting = await register();
    await tenant.post(`/v1/webhooks/${waiting}/test`).expect(200);
    const events = () =>
      tenant.scope.db.read('webhookEvent').where({ tenantId: tenant.id }).select('id');
    const deliveries = async (of: string) =>
      (await tenant.get(`/v1/webhooks/${of}/deliveries`).expect(200)).body.data as object[];
    expect(await removeAllAged(tenant, 'webhooks', 30)).to.equal(0);
    expect(await deliveries(id)).to.have.length(1);
    // The delivery and its event.
    expect(await removeAllAged(tenant, 'webhooks', 31)).to.equal(2);
    expect(await deliveries(id)).to.deep.equal([]);
    expect(await deliveries(waiting)).to.have.length(1);
    expect(await events()).to.have.length(1);
  });

  it('recover from a time that is one', async () => {
    const path = `/v1/webhooks/${await register()}/recover`;
    for (const since of ['2026-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '2016-12-31T23:59:60Z']) {
      const none = await tenant.post(path, { since }).expect(200);
      expect(none.body, since).to.deep.equal({ deliveries: 0 });
    }
    const { body } = await tenant.post(path, { since: 'yesterday' }).expect(400);
    expect(body.error.details.field).to.equal('since');
    await tenant.post(path, {}).expect(400);
  });
});
