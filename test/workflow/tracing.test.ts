import { expect } from 'chai';
import { readConfig } from '../../src/platform/config/config.js';
import { openCollector, type CollectedSpan, type Collector } from '../support/servers/collector.js';
import { onboarding } from '../support/billing/flows.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { createAccount, createService, usage, waitUntilRated } from '../support/billing/usage.js';

/** Kinds of spans as OTLP numbers them. */
const kinds = { server: 2, client: 3, producer: 4 };

describe('traces', () => {
  let collector: Collector;
  let instance: TestInstance;
  let tenant: TestTenant;
  const lines: string[] = [];
  before(async () => {
    collector = await openCollector();
    const { tracing } = readConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    instance = await openTestInstance({
      withWorkers: true,
      tracing,
      logTo: { write: (line) => lines.push(line) },
    });
    tenant = await instance.tenant();
  });
  after(async () => {
    await instance.close();
    await collector.close();
  });

  /** From a span up to the one that has no parent among those that arrived. */
  async function chainOf(span: CollectedSpan): Promise<CollectedSpan[]> {
    const { parentSpanId } = span;
    if (!parentSpanId || parentSpanId === callerSpanId) return [span];
    const parent = await collector.find(({ spanId }) => spanId === parentSpanId);
    expect(parent.traceId).to.equal(span.traceId);
    return [span, ...(await chainOf(parent))];
  }
  const callerSpanId = 'b7ad6b7169203331';
  const within = (traceId: string, name: string) => (span: CollectedSpan) =>
    span.traceId === traceId && span.name === name;

  it('lead from the request of a flow through workflow and activity to SQL', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const { body } = await tenant
      .post(`${external}/run/billing/account/create`, onboarding({ ExternalId: 'traced' }))
      .set('traceparent', `00-${traceId}-${callerSpanId}-01`)
      .expect(200);
    const insert = await collector.find(within(traceId, 'insert account'));
    const chain = await chainOf(insert);
    expect(chain.map(({ name }) => name)).to.deep.equal([
      'insert account',
      'onboardAccount',
      'createAccount',
      'start createAccount',
      `POST ${external}/run/billing/account/create`,
    ]);
    const [sql, activity, workflow, start, request] = chain;
    expect(request).to.deep.include({ traceId, parentSpanId: callerSpanId, kind: kinds.server });
    expect(request?.attributes).to.include({
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'durabill.tenant_id': tenant.id,
    });
    expect([start?.kind, sql?.kind]).to.deep.equal([kinds.producer, kinds.client]);
    for (const span of [activity, workflow, start]) {
      expect(span?.attributes).to.include({
        'durabill.tenant_id': tenant.id,
        'durabill.execution_id': body.flowExecutionId,
      });
    }
    expect(sql?.attributes).to.include({
      'db.system.name': 'postgresql',
      'durabill.tenant_id': tenant.id,
    });
    expect(request?.resource).to.include({
      'service.name': 'durabill',
      'deployment.environment.name': 'test',
    });
    expect(collector.headers()).to.include({ 'x-key': 'a b' });
    expect(lines.some((line) => line.includes(`"traceId":"${traceId}"`))).to.equal(true);
  });

  describe('of usage', () => {
    let message: object;
    before(async () => {
      await createAccount(tenant, 'acme');
      const serviceId = await createService(tenant, 'Calls');
      message = usage('acme', serviceId);
    });

    it('lead from the request of an event to the SQL that rates it', async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319d';
      await tenant
        .post('/v1/ingest/usage', { message })
        .set('traceparent', `00-${traceId}-${callerSpanId}-01`)
        .expect(200);
      const activity = await collector.find(within(traceId, 'rateUsageRange'));
      const sql = await collector.find(
        ({ parentSpanId, name }) =>
          parentSpanId === activity.spanId && name === 'insert rated_transaction',
      );
      const chain = await chainOf(sql);
      expect(chain.slice(1).map(({ name }) => name)).to.deep.equal([
        'rateUsageRange',
        'rateUsage',
        'start rateUsage',
        'publish usage',
        'POST /v1/ingest/usage',
      ]);
    });

    it('link the rating of several events to the request that published them', async () => {
      const traceId = '0af7651916cd43dd8448eb211c80319e';
      await waitUntilRated(tenant, 1);
      await tenant
        .post('/v1/ingest/usage/batch', [{ message }, { message }, { message }])
        .set('traceparent', `00-${traceId}-${callerSpanId}-01`)
        .expect(200);
      const publish = await collector.find(within(traceId, 'publish usage'));
      const activity = await collector.find(({ links = [] }) =>
        links.some((link) => link.traceId === traceId),
      );
      expect(activity.name).to.equal('rateUsageRange');
      expect(activity.traceId).not.to.equal(traceId);
      expect(activity.links?.map(({ spanId }) => spanId)).to.deep.equal([publish.spanId]);
      const workflow = await collector.find(within(activity.traceId, 'rateUsage'));
      expect(activity.parentSpanId).to.equal(workflow.spanId);
    });
  });

  it('name routes and tables, and hold no token, actor or value', async () => {
    const accountId = await createAccount(tenant, 'Nobody may read this');
    await tenant.get(`${external}/accounts/${accountId}`).expect(200);
    const name = `GET ${external}/accounts/{accountId}`;
    const read = await collector.find((span) => span.name === name);
    await collector.find(({ parentSpanId }) => parentSpanId === read.spanId);
    const text = collector.text();
    const secrets = [tenant.token, 'Nobody may read this', 'tester', 'Springfield'];
    expect(secrets.filter((secret) => text.includes(secret))).to.deep.equal([]);
    expect(collector.spans.filter((span) => span.name.includes(accountId))).to.deep.equal([]);
  });

  it('are marked as failed where the work failed, not where a caller was wrong', async () => {
    const missing = '0190a000-0000-7000-8000-000000000000';
    await tenant.get(`${external}/accounts/${missing}`).expect(404);
    const refused = await collector.find(
      ({ attributes }) => attributes['http.response.status_code'] === 404,
    );
    expect(refused.status.code ?? 0).to.equal(0);
    const traceId = '0af7651916cd43dd8448eb211c80319f';
    await tenant
      .post(`${external}/run/billing/account/create`, onboarding({ ExternalId: 'traced' }))
      .set('traceparent', `00-${traceId}-${callerSpanId}-01`)
      .expect(409);
    const workflow = await collector.find(
      ({ traceId: of, name, attributes }) =>
        of === traceId && name === 'createAccount' && 'error.type' in attributes,
    );
    expect(workflow.status.code).to.equal(2);
  });
});
