import { expect } from 'chai';
import { auditedEntities } from '../../../src/schemas/access/audit.js';
import { recordSecurityEvent } from '../../../src/access/security-events.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { buildWorld, type World } from '../../support/http/world.js';
import { useInstance } from '../../support/servers/use-instance.js';

interface Entry {
  readonly id: number;
  readonly at: string;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly entity: string;
  readonly callerRequestId: string | null;
  readonly entityId: string | null;
  readonly action: string;
  readonly before: Record<string, unknown> | null;
  readonly after: Record<string, unknown> | null;
}

const strangerId = '01939c6e-7a00-7000-8000-00000000dead';

/** What a workflow asked somebody, and what they said. */
async function decideSomething({ tenant }: World): Promise<void> {
  const document = { dsl: '1.0.0', namespace: 'test', name: 'asking', version: '1.0.0' };
  const given = { title: 'A credit', details: {}, timeout: 'PT1H', onTimeout: 'reject' };
  const definition = { document, do: [{ ask: { call: 'durabill.approval', with: given } }] };
  await tenant.post('/v1/workflows', { definition }).expect(201);
  await tenant.post('/v1/workflows/asking/execute', { data: {}, async: true }).expect(200);
  for (;;) {
    const { body } = await tenant.get('/v1/approvals?kind=workflow').expect(200);
    const [asked] = body.data;
    if (asked) {
      await tenant.post(`/v1/approvals/${asked.id}`, { decision: 'approve' }).expect(200);
      return;
    }
  }
}

describe('audit', () => {
  const instance = useInstance({ withWorkers: true });
  let world: World;
  const list = async (query: string, { tenant } = world): Promise<Entry[]> =>
    (await tenant.get(`/v1/audit${query}`).expect(200)).body.data;
  before(async () => {
    world = await buildWorld(await instance.tenant());
    await decideSomething(world);
  });

  it('knows every table whose changes are kept', async () => {
    const tables = await asOwner(instance.databaseUrl, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select distinct tgrelid::regclass::text as name
           from pg_trigger join pg_proc on pg_proc.oid = tgfoid where proname like 'audit%'`,
      );
      return rows.map(({ name }) => name.replace(/_(\w)/g, (_all, c: string) => c.toUpperCase()));
    });
    expect([...auditedEntities].sort()).to.deep.equal(tables.sort());
  });

  for (const entity of auditedEntities) {
    it(`tells who made each ${entity}, when, and what it was`, async () => {
      const changes = await list(`?entity=${entity}`);
      const entries = changes.filter(({ action }) => action === 'create');
      expect(entries).to.not.be.empty;
      for (const entry of entries) {
        expect(entry).to.include({ entity, action: 'create', actor: 'tester', before: null });
        expect(Math.abs(Date.now() - Date.parse(entry.at))).to.be.below(600_000);
        expect(entry.after).to.include({ id: entry.entityId });
        // An invoice is never deleted.
        expect(entry.after?.['deletedAt'] ?? null).to.equal(null);
        expect(entry.after).to.not.have.any.keys('tenantId', 'tenant_id', 'ratingVersion');
        expect(Object.keys(entry.after ?? {}).filter((name) => name.includes('_'))).to.be.empty;
      }
    });
  }

  // spec/beyond.md R5
  it('tells what a change of each kind of record was from and to', async () => {
    const { tenant, params } = world;
    const { accountId, addressId, serviceId, attributeId, pricingLogicId } = params;
    const { contractId, contractServiceId, paymentId } = params;
    const logic = {
      name: 'Renamed',
      priceOutput: 'total',
      transactionDimension: 'Account',
      steps: [{ name: 'total', formula: '2 * 3' }],
    };
    const service = `/services/${serviceId}`;
    const changes = [
      ['account', accountId, `/accounts/${accountId}`, { billingDay: 17 }, 'billingDay', 17],
      ['address', addressId, `/accounts/${accountId}/addresses/${addressId}`, { city: 'Oz' }],
      ['service', serviceId, service, { label: 'Renamed' }, 'label', 'Renamed'],
      ['attribute', attributeId, `${service}/priceable-attributes/${attributeId}`, { label: 'L' }],
      ['pricingLogic', pricingLogicId, `${service}/pricing-logic/${pricingLogicId}`, logic],
      ['contract', contractId, `/contracts/${contractId}`, { poNumber: 'PO 7' }],
      [
        'contractService',
        contractServiceId,
        `/contract-services/${contractServiceId}`,
        { billingFrequency: 'Quarterly' },
      ],
      ['payment', paymentId, `/payments/${paymentId}`, { comments: 'Mended' }],
    ] as [string, string, string, Record<string, unknown>][];
    for (const [entity, id, path, body] of changes) {
      const [name = '', value] = Object.entries(body)[0] ?? [];
      const answer = await tenant.put(`${external}${path}`, body).expect(200);
      const [newest, ...older] = await list(`?entity=${entity}&id=${id}`);
      expect(newest, entity).to.include({
        entity,
        entityId: id,
        action: 'update',
        actor: 'tester',
        requestId: answer.headers['x-request-id'],
      });
      expect(newest?.after, entity).to.have.property(name, value);
      expect(newest?.before?.[name], entity).to.not.equal(value);
      // What an entry leaves is what the next one finds.
      expect(newest?.before, entity).to.deep.equal(older[0]?.after);
    }
  });

  it('tells of cards and rows that are replaced and removed', async () => {
    const { tenant, params } = world;
    const service = `${external}/services/${params['serviceId']}`;
    const path = `${service}/rate-cards/USD`;
    const { body: card } = await tenant.get(path).expect(200);
    await tenant.delete(path).expect(204);
    const [row] = await list(`?entity=rateCardRow&id=${card.rows[0].id}`);
    expect(row).to.include({ action: 'delete', actor: 'tester' });
    expect(row?.before).to.include({ deletedAt: null });
    expect(row?.after?.['deletedAt']).to.be.a('string');
    const [newest] = await list('?entity=rateCard');
    expect(newest).to.include({ action: 'delete' });
  });

  it('keeps every digit of an amount', async () => {
    const { tenant, params } = world;
    const path = `${external}/payments/${params['paymentId']}`;
    await tenant.put(path, '{"amount":12345678901234567890.12}').expect(200);
    const { text } = await tenant.get(`/v1/audit?entity=payment&id=${params['paymentId']}&limit=1`);
    expect(text).to.match(/"amount": ?12345678901234567890\.12/);
  });

  // spec/beyond.md R5
  it('lists the newest first, by pages', async () => {
    const { body } = await world.tenant.get('/v1/audit?limit=1000').expect(200);
    const ids = (body.data as Entry[]).map(({ id }) => id);
    const { total } = body.pagination as { total: number };
    expect(total).to.be.greaterThan(10);
    expect(ids).to.have.length(total);
    expect(ids).to.deep.equal([...ids].sort((a, b) => b - a));
    const second = await world.tenant.get('/v1/audit?limit=3&offset=3').expect(200);
    expect((second.body.data as Entry[]).map(({ id }) => id)).to.deep.equal(ids.slice(3, 6));
    expect(second.body.pagination).to.deep.equal({ total, limit: 3, offset: 3, hasMore: true });
    const beyond = await world.tenant.get(`/v1/audit?offset=${total}`).expect(200);
    expect(beyond.body).to.deep.equal({
      data: [],
      pagination: { total, limit: 50, offset: total, hasMore: false },
    });
  });

  // spec/beyond.md R2
  it('is filtered by who and when', async () => {
    expect(await list('?actor=nobody')).to.deep.equal([]);
    const all = await list('?limit=1000');
    expect(await list('?actor=tester&limit=1000')).to.deep.equal(all);
    const middle = all[Math.floor(all.length / 2)]?.at ?? '';
    const [since, until] = [
      await list(`?limit=1000&from=${middle}`),
      await list(`?limit=1000&to=${middle}`),
    ];
    expect([...since, ...until]).to.deep.equal(all);
    expect(since).to.not.be.empty;
    expect(until).to.not.be.empty;
    const today = new Date().toISOString().slice(0, 10);
    expect(await list(`?limit=1000&from=2020-01-01&to=${today}`)).to.deep.equal(all);
    expect(await list('?to=2020-01-01')).to.deep.equal([]);
    // The ends of what a date can be.
    expect(await list('?limit=1000&from=0001-01-01&to=9999-12-31')).to.deep.equal(all);
    for (const end of ['0001-01-01T00:00:00%2B23:59', '0000-01-01T00:00:00Z']) {
      expect(await list(`?limit=1000&from=${end}`), end).to.deep.equal(all);
    }
    expect(await list('?limit=1000&to=9999-12-31T23:59:59-23:59')).to.deep.equal(all);
  });

  it('keeps our id of a request as evidence, and what its caller calls it apart', async () => {
    const { tenant, params } = world;
    const path = `${external}/accounts/${params['accountId']}`;
    const entries: Entry[] = [];
    for (const billingDay of [11, 12]) {
      const answer = await tenant
        .put(path, { billingDay })
        .set('X-Request-Id', 'chosen-1')
        .expect(200);
      expect(answer.headers['x-request-id']).to.equal('chosen-1');
      entries.push(...(await list(`?entity=account&id=${params['accountId']}&limit=1`)));
    }
    for (const entry of entries) {
      expect(entry.callerRequestId).to.equal('chosen-1');
      expect(entry.requestId).to.match(/^[0-9a-f-]{36}$/);
    }
    expect(entries[0]?.requestId).to.not.equal(entries[1]?.requestId);
  });

  it('shows security events of the tenant, and of nobody else', async () => {
    const { platform } = instance.platform.database;
    const event = { actor: 'command-line', requestId: 'r-1', callerRequestId: 'c-1' };
    const entity = 'accessKey';
    await recordSecurityEvent(platform, {
      ...event,
      tenantId: world.tenant.id,
      entity,
      entityKey: '0011',
      action: 'revoke',
      details: { name: 'till', orgId: null },
    });
    await recordSecurityEvent(platform, {
      tenantId: 'no such tenant',
      actor: null,
      entity: 'signIn',
      entityKey: null,
      action: 'refuse',
    });
    const [entry, ...others] = await list('?entity=accessKey&actor=command-line');
    expect(others).to.deep.equal([]);
    expect(entry).to.deep.include({
      ...event,
      entity,
      entityKey: '0011',
      entityId: null,
      action: 'revoke',
      before: null,
      after: { name: 'till', orgId: null },
    });
    expect(await list('?entity=signIn')).to.deep.equal([]);
    const rows = await asOwner(instance.databaseUrl, (client) =>
      client.query(`select tenant_id, action from audit where entity = 'sign_in'`),
    );
    expect(rows.rows).to.deep.equal([{ tenant_id: '*', action: 'refuse' }]);
    // With the tenant's own handle: its own events, none of others.
    const own = await instance.tenant();
    const { read } = own.scope.db;
    const ofGrant = { actor: 'u', entity: 'oauthGrant', entityKey: strangerId } as const;
    const approve = { ...ofGrant, action: 'approve' } as const;
    await recordSecurityEvent(read, { ...approve, tenantId: own.id });
    const refusal = await recordSecurityEvent(read, { ...approve, tenantId: world.tenant.id }).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );
    expect(refusal).to.equal('42501');
    const seen = await list(`?id=${strangerId}`, { ...world, tenant: own });
    expect(seen.map(({ entityId, action }) => [entityId, action])).to.deep.equal([
      [strangerId, 'approve'],
    ]);
  });

  it('shows nothing of another tenant', async () => {
    const other = { ...world, tenant: await instance.tenant() };
    expect(await list('', other)).to.deep.equal([]);
    const query = `?entity=account&id=${world.params['accountId']}`;
    expect(await list(query)).to.not.be.empty;
    expect(await list(query, other)).to.deep.equal([]);
    expect(await list(`?id=${strangerId}`)).to.deep.equal([]);
  });

  for (const [what, query, field] of [
    ['an unknown entity', 'entity=rate_card', 'entity'],
    ['an id that is none', 'id=7', 'id'],
    ['a time that is none', 'from=yesterday', 'from'],
    ['a span the wrong way round', 'from=2026-02-01&to=2026-01-01', 'from'],
    ['an empty span', 'from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
    ['no rows a page', 'limit=0', 'limit'],
  ] as const) {
    it(`answers ${what} with 400`, async () => {
      const { body } = await world.tenant.get(`/v1/audit?${query}`).expect(400);
      expect(body.error).to.include({ code: 'VALIDATION_ERROR' });
      expect(body.error.details).to.include({ field });
      if (field === 'entity') {
        for (const entity of auditedEntities) expect(body.error.message).to.include(entity);
      }
    });
  }

  it('takes the name of whoever changes something as it is', async () => {
    const { tenant, params } = world;
    const trail = { actor: `O'Neil \\ "x"; rollback --`, requestId: `'); commit; --` };
    const db = instance.platform.database.forTenant(tenant.id, trail);
    await db.transaction((trx) =>
      trx('account').where({ id: params['accountId'] }).update({ netTerm: 'Net 45' }),
    );
    const [entry] = await list(`?entity=account&id=${params['accountId']}`);
    expect(entry).to.include({ ...trail, action: 'update' });
  });
});
