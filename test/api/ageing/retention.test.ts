import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { removeAged } from '../../../src/commands/ageing/remove-aged.js';
import { retentionHorizon } from '../../../src/kernel/retention.js';
import { placeLegalHold, releaseLegalHold } from '../../../src/models/access/legal-hold.js';
import { listDueRetention } from '../../../src/models/access/retention-rule.js';
import { startRetentionWatch } from '../../../src/worker/retention-watch.js';
import { inDays, keepFor, removeAllAged } from '../../support/ageing.js';
import { createAccount, createService, rate, usage } from '../../support/billing/usage.js';
import { runDurabill, settingsOf } from '../../support/servers/command-line.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const onboarding = (externalId: string) => ({
  Company_Name: externalId,
  First_Name: 'Ann',
  Last_Name: 'Miller',
  Line1: '1 Main Street',
  City: 'Springfield',
  State: 'IL',
  Country: 'US',
  Currency: 'USD',
  Zip_Code: '62701',
  ExternalId: externalId,
});

// spec/platform.md R100 to R103
describe('retention', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance, { forEachTest: true });

  const rules = async () => (await tenant.get('/v1/retention').expect(200)).body;
  const count = async (table: string): Promise<number> => {
    const rows: unknown[] = await tenant.scope.db.read(table).where({ tenantId: tenant.id });
    return rows.length;
  };

  it('ends with whole days: what is kept for 30 days has at least 30', () => {
    const horizon = (now: string, days: number) =>
      retentionHorizon(new Date(now), days).toISOString();
    expect(horizon('2026-12-31T15:00:00Z', 30)).to.equal('2026-12-01T00:00:00.000Z');
    expect(horizon('2026-12-31T00:00:00Z', 30)).to.equal('2026-12-01T00:00:00.000Z');
    expect(horizon('2024-03-01T23:59:59.999Z', 1)).to.equal('2024-02-29T00:00:00.000Z');
  });

  it('is of the product, else of the installation, else of the tenant', async () => {
    const of = async (kind: string) => {
      const found = (await rules()).rules as { kind: string; days: number | null; setBy: string }[];
      const { days, setBy } = found.find((rule) => rule.kind === kind) ?? { days: 0, setBy: '' };
      return [days, setBy];
    };
    expect(await of('webhooks')).to.deep.equal([30, 'product']);
    expect(await of('executions')).to.deep.equal([null, 'product']);
    const everybody = { ...tenant, id: '*' };
    await keepFor(instance, everybody, 'executions', 400);
    expect(await of('executions')).to.deep.equal([400, 'installation']);
    await keepFor(instance, tenant, 'executions', null);
    expect(await of('executions')).to.deep.equal([null, 'tenant']);
    await keepFor(instance, tenant, 'executions', 90);
    expect(await of('executions')).to.deep.equal([90, 'tenant']);
    await keepFor(instance, everybody, 'executions', undefined);
    await keepFor(instance, tenant, 'executions', undefined);
    expect(await of('executions')).to.deep.equal([null, 'product']);
  });

  it('removes executions that ended, and keeps those that a key still answers for', async () => {
    const path = `${external}/run/billing/account/create`;
    const plain = await tenant.post(path, onboarding('one')).expect(200);
    const body = onboarding('two');
    const keyed = await tenant.post(path, body).set('Idempotency-Key', 'k-2').expect(200);
    await keepFor(instance, tenant, 'executions', 10);
    await keepFor(instance, tenant, 'idempotencyKeys', 20);
    expect(await removeAllAged(tenant, 'executions', 10)).to.equal(0);
    expect(await removeAllAged(tenant, 'idempotencyKeys', 11)).to.equal(0);
    expect(await removeAllAged(tenant, 'executions', 11)).to.equal(1);
    const executions = '/v1/workflows/account-create/executions';
    const list = await tenant.get(executions).expect(200);
    expect(
      (list.body.data as { executionId: string }[]).map(({ executionId }) => executionId),
    ).to.deep.equal([keyed.body.flowExecutionId]);
    const gone = await tenant
      .get(`${executions}/${String(plain.body.flowExecutionId)}`)
      .expect(404);
    expect(gone.body.error.message).to.match(/removed by retention/);
    const again = await tenant.post(path, body).set('Idempotency-Key', 'k-2').expect(200);
    expect(again.body).to.deep.equal(keyed.body);
    expect(await removeAllAged(tenant, 'idempotencyKeys', 21)).to.equal(1);
    expect(await removeAllAged(tenant, 'executions', 12)).to.equal(1);
    expect(await count('execution')).to.equal(0);
  });

  it('keeps what runs, however old it is', async () => {
    await tenant
      .post(`${external}/run/billing/account/create`, onboarding('one'))
      .set('Idempotency-Key', 'k')
      .expect(200);
    await asOwner(instance.databaseUrl, (client) =>
      client.query(
        `update execution set status = 'running', completed_at = null where tenant_id = $1`,
        [tenant.id],
      ),
    );
    await keepFor(instance, tenant, 'executions', 2);
    await keepFor(instance, tenant, 'idempotencyKeys', 2);
    expect(await removeAllAged(tenant, 'idempotencyKeys', 100)).to.equal(0);
    expect(await removeAllAged(tenant, 'executions', 100)).to.equal(0);
  });

  it('removes messages of rated usage, whose charges explain themselves all the same', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls');
    const message = usage('acme', serviceId, { dimensions: { api_calls: '300' } });
    const before = await rate(tenant, message);
    const bad = await rate(tenant, usage('nobody', serviceId));
    const after = await rate(tenant, usage('acme', serviceId));
    await keepFor(instance, tenant, 'messages', 400);
    expect(await removeAllAged(tenant, 'messages', 400)).to.equal(0);
    // Those of the two rated events; the rejected one may be rated again.
    expect(await removeAllAged(tenant, 'messages', 401)).to.equal(2);
    const now = inDays(401)().toISOString().slice(0, 10);
    const shown = (await tenant.get(`/v1/usage-events/${String(before.id)}`).expect(200)).body;
    const note =
      `The message of this event was removed on ${now} by retention. ` +
      'The charges are explained by what they keep of it.';
    expect(shown).to.deep.equal({ ...before, message: null, messageNote: note });
    const rejected = (await tenant.get(`/v1/usage-events/${String(bad.id)}`).expect(200)).body;
    expect(rejected).to.deep.equal(bad);
    await createAccount(tenant, 'nobody');
    await tenant.post(`/v1/usage-events/${String(bad.id)}/retry`).expect(200);
    const { body } = await tenant.get('/v1/usage-events?status=rated').expect(200);
    const list = body.data as { id: string; messageNote: string | null }[];
    expect(list.map(({ id, messageNote }) => [id, messageNote === null])).to.have.deep.members([
      [before.id, false],
      [after.id, false],
      [bad.id, true],
    ]);
    // The same again is a repeat: nothing else can be known of it.
    const repeat = await rate(tenant, message);
    expect(repeat.id).to.equal(before.id);
    const { body: counts } = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(counts).to.deep.include({ accepted: 4, rated: 3, duplicate: 1, rejected: 0 });
    const refused = await tenant.get('/v1/usage?groupBy=dimension:api_calls').expect(400);
    expect(refused.body.error.message).to.match(/2 events .* retention has removed/);
    const lines = (await tenant.get('/v1/exports/usage-events').expect(200)).text
      .trim()
      .split('\n');
    const messages = lines
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { message: string | null }).message);
    expect(messages.filter((text) => text === null)).to.have.length(2);
  });

  it('says which part of an explanation is gone with the message', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Formulas', {
      inputAttributes: [{ name: 'factor', dimensionDataType: 'Number' }],
    });
    const steps = [{ name: 'total', formula: 'Price(api_calls, api_calls) * factor' }];
    await tenant
      .post(`${external}/services/${serviceId}/pricing-logic`, {
        name: 'By factor',
        priceOutput: 'total',
        transactionDimension: 'account',
        chargeType: 'Usage',
        steps,
      })
      .expect(201);
    const dimensions = { api_calls: '10', factor: '3' };
    const before = await rate(tenant, usage('acme', serviceId, { dimensions }));
    // 10 at 0.01, three times.
    expect(before.ratedTransactions[0].amount).to.equal(0.3);
    await keepFor(instance, tenant, 'messages', 1);
    await removeAllAged(tenant, 'messages', 2);
    const shown = (await tenant.get(`/v1/usage-events/${String(before.id)}`).expect(200)).body;
    expect(shown.messageNote).to.match(/by retention\. The formula of a pricing logic needs it/);
    expect(shown.ratedTransactions[0]).to.deep.equal({
      ...before.ratedTransactions[0],
      explanation: null,
      matches: false,
    });
    const period = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const audit = await tenant
      .post('/v1/workflows/audit-usage/execute', { data: period })
      .expect(200);
    expect(audit.body.output).to.deep.include({ events: 1, unchecked: 1, differenceCount: 0 });
  });

  it('removes nothing under a legal hold, and goes on when it is released', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls');
    await rate(tenant, usage('acme', serviceId));
    await keepFor(instance, tenant, 'messages', 1);
    const { platform } = instance.platform.database;
    const due = async () =>
      (await listDueRetention(platform, inDays(9)()))
        .filter(({ tenantId, kind }) => tenantId === tenant.id && kind === 'messages')
        .map(({ days }) => days);
    expect(await due()).to.deep.equal([1]);
    const hold = { tenantId: tenant.id, reason: 'case 7', placedBy: 'x', placedAt: new Date() };
    await platform.transaction((trx) => placeLegalHold(trx, hold));
    expect(await platform.transaction((trx) => placeLegalHold(trx, hold))).to.equal(false);
    expect(await due()).to.deep.equal([]);
    expect(await removeAllAged(tenant, 'messages', 9)).to.equal(0);
    expect((await rules()).legalHoldSince).to.equal(hold.placedAt.toISOString());
    await platform.transaction((trx) => releaseLegalHold(trx, tenant.id));
    expect(await removeAllAged(tenant, 'messages', 9)).to.equal(1);
    expect(await due()).to.deep.equal([]);
  });

  it('is one process at a time for a tenant', async () => {
    await createAccount(tenant, 'acme');
    await rate(tenant, usage('acme', await createService(tenant, 'Calls')));
    await keepFor(instance, tenant, 'messages', 1);
    const later = { ...tenant.scope, now: inDays(9) };
    const all = await Promise.all(
      Array.from({ length: 6 }, () => removeAged(later, 'messages', null)),
    );
    expect(all.reduce((sum, { removed }) => sum + removed, 0)).to.equal(1);
  });

  it('is looked after by every process with workers', async () => {
    await createAccount(tenant, 'acme');
    await rate(tenant, usage('acme', await createService(tenant, 'Calls')));
    await keepFor(instance, tenant, 'messages', 1);
    const { platform } = instance;
    const watch = startRetentionWatch(
      Object.assign(Object.create(platform) as typeof platform, { now: inDays(9) }),
      50,
    );
    const deadline = Date.now() + 20_000;
    while ((await count('usageMessage')) > 0 && Date.now() < deadline) await wait(20);
    await watch.stop();
    expect(await count('usageMessage')).to.equal(0);
    const [rule] = ((await rules()).rules as { kind: string; removed: number }[]).filter(
      ({ kind }) => kind === 'messages',
    );
    expect(rule?.removed).to.equal(1);
    const metrics = await platform.metrics.registry.metrics();
    expect(metrics).to.match(/durabill_retention_removed_rows_total\{kind="messages"\} [1-9]/);
  });

  it('is set and shown by the command line, audited', async () => {
    const settings = settingsOf(instance);
    const run = (...words: string[]) => runDurabill(settings, 'tenant', ...words);
    const set = await run('retention', tenant.id, '--messages', '400d', '--audit', 'ever');
    expect(set.code, set.errors).to.equal(0);
    expect(set.output).to.match(/^messages\t400d\tby the tenant$/m);
    expect(set.output).to.match(/^audit\tever\tby the tenant$/m);
    expect(set.output).to.match(/^webhooks\t30d\tby the product$/m);
    const held = await run('hold', tenant.id, '--reason', 'case 7');
    expect(held.code, held.errors).to.equal(0);
    expect((await run('hold', tenant.id, '--reason', 'case 8')).errors).to.match(/case 7/);
    expect((await run('delete', tenant.id, '--confirm', tenant.id)).errors).to.match(/legal hold/);
    expect((await run('hold', tenant.id, '--release')).code).to.equal(0);
    for (const wrong of [
      ['retention', tenant.id, '--messages', '0d'],
      ['retention', tenant.id, '--webhooks', '3d'],
      ['retention', tenant.id, '--audit', 'soon'],
      ['retention'],
      ['retention', 'nobody', '--audit', '3d'],
      ['hold', tenant.id],
      ['hold', tenant.id, '--release'],
    ]) {
      expect((await run(...wrong)).code, wrong.join(' ')).to.equal(1);
    }
    const { body } = await tenant.get('/v1/audit?entity=tenant').expect(200);
    const events = (body.data as { action: string; after: unknown }[]).map((each) => [
      each.action,
      each.after,
    ]);
    expect(events.reverse().slice(-3)).to.deep.equal([
      ['update', { retention: { messages: '400d', audit: 'ever' } }],
      ['hold', { reason: 'case 7' }],
      ['release', null],
    ]);
  });
});
