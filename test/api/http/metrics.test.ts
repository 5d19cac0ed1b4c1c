import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { startOperator } from '../../../src/api/server/operator-server.js';
import { openMetrics } from '../../../src/platform/metrics.js';
import type { RunningApi } from '../../../src/api/main.js';
import { runBilling } from '../../support/billing/billing-run.js';
import { cableToDatabase } from '../../support/servers/cable.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { openReceiver, type Receiver } from '../../support/servers/receiver.js';
import { asOwner } from '../../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';

/** The samples of a text of Prometheus, by name and labels as they are written. */
const samplesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );

describe('metrics', () => {
  let instance: TestInstance;
  let operator: RunningApi;
  const cable = cableToDatabase();
  let tenant: TestTenant;
  let receiver: Receiver;
  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      route: cable.route,
    });
    operator = await startOperator(instance.platform, { host: '127.0.0.1', port: 0 });
    tenant = await instance.tenant();
    receiver = await openReceiver();
  });
  after(async () => {
    await operator.close();
    await instance.close();
    await receiver.close();
  });

  const read = async (): Promise<string> => {
    const response = await fetch(`${operator.url}/metrics`);
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.include('text/plain');
    return response.text();
  };
  const samples = async () => samplesOf(await read());

  it('count what happened to usage, by reason where it was rejected', async () => {
    await createAccount(tenant, 'acme');
    const serviceId = await createService(tenant, 'Calls');
    const event = usage('acme', serviceId, { externalTransactionId: 'm-1' });
    await send(tenant, event);
    await tenant.post('/v1/ingest/usage/batch', [{ message: event }, { message: 7 }]).expect(200);
    await send(tenant, usage('nobody', serviceId));
    await waitUntilRated(tenant, 3);
    const values = await samples();
    expect(values.get('durabill_ingest_accepted_events_total')).to.equal(3);
    expect(values.get('durabill_usage_rated_events_total')).to.equal(1);
    expect(values.get('durabill_usage_duplicate_events_total')).to.equal(1);
    expect(values.get('durabill_usage_rejected_events_total{reason="ACCOUNT_NOT_FOUND"}')).to.equal(
      1,
    );
    expect(values.get('durabill_usage_rating_seconds_count')).to.be.within(1, 3);
    // Each stretch of the log has a workflow, which this process took with the start.
    const starts = ['true', 'false'].map(
      (eager) =>
        values.get(`durabill_workflow_starts_total{workflow="rateUsage",eager="${eager}"}`) ?? 0,
    );
    expect((starts[0] ?? 0) + (starts[1] ?? 0)).to.equal(
      values.get('durabill_usage_rating_seconds_count'),
    );
  });

  it('say how long what rating adds has waited for totals and lists', async () => {
    const untilLag = async (isIt: (seconds: number) => boolean): Promise<void> => {
      for (;;) {
        const values = await samples();
        const lags = ['totals', 'lists'].map(
          (name) => values.get(`durabill_projection_lag_seconds{projection="${name}"}`) ?? NaN,
        );
        if (lags.every(isIt)) return;
        await wait(20);
      }
    };
    await createAccount(tenant, 'late');
    const serviceId = await createService(tenant, 'Late calls');
    await send(tenant, usage('late', serviceId, { externalTransactionId: 'late-1' }));
    await waitUntilRated(tenant, 1);
    // It is added after ten seconds.
    await untilLag((seconds) => seconds > 0.5 && seconds < 60);
    await asOwner(instance.databaseUrl, (client) =>
      client.query(`
        update usage_change set added_at = added_at - interval '1 minute';
        update usage_unlisted set added_at = added_at - interval '1 minute'`),
    );
    await untilLag((seconds) => seconds === 0);
  });

  it('count flows by how they ended, and how long callers waited', async () => {
    const path = `${external}/run/billing/payment/create`;
    await tenant.post(path, { amount: 1 }).expect(400);
    const account = await createAccount(tenant, 'payer');
    const payment = {
      account_id: account,
      amount: 5,
      currency_id: 'USD',
      payment_date: '2026-11-01',
      payment_method: 'Cash',
      payment_reference: 'p-1',
    };
    await tenant.post(path, payment).expect(200);
    await tenant.post(path, payment).expect(409);
    const values = await samples();
    const flows = (outcome: string) =>
      values.get(`durabill_flows_total{flow="savePayment",outcome="${outcome}"}`);
    expect([flows('completed'), flows('conflict')]).to.deep.equal([1, 1]);
    // One that does not fit its contract never starts.
    expect(flows('validation')).to.equal(undefined);
    expect(values.get('durabill_flow_seconds_count{flow="savePayment"}')).to.equal(2);
    const eager = 'durabill_workflow_starts_total{workflow="savePayment",eager="true"}';
    expect(values.get(eager)).to.equal(2);
  });

  it('count answers by operation and status, and requests that lead nowhere together', async () => {
    await tenant.get(`${external}/accounts/01939c6e-7a00-7000-8000-00000000dead`).expect(404);
    await fetch(`${instance.url}/nowhere/${tenant.id}`);
    await fetch(`${instance.url}/nowhere/else`);
    const values = await samples();
    const requests = (operation: string, status: number) =>
      values.get(`durabill_http_requests_total{operation="${operation}",status="${status}"}`);
    expect(requests('getAccount', 404)).to.equal(1);
    expect(requests('unrouted', 404)).to.equal(2);
    expect(values.get('durabill_http_request_seconds_count{operation="getAccount"}')).to.equal(1);
  });

  it('count deliveries of webhooks by outcome, and those that wait', async () => {
    receiver.answer = (_delivery, response) => void response.writeHead(500).end();
    await tenant
      .post('/v1/webhooks', {
        url: receiver.url,
        events: ['payment.saved'],
        secret: 'a'.repeat(32),
      })
      .expect(201);
    const account = await createAccount(tenant, 'hooked');
    await tenant
      .post(`${external}/payments`, {
        accountId: account,
        amount: 5,
        currency: 'USD',
        paymentDate: '2026-11-01',
        paymentMethod: 'Cash',
        paymentReference: 'p-2',
        paymentType: 'Pay In',
      })
      .expect(201);
    await receiver.until((all) => all.length === 1);
    let values = await samples();
    while (values.get('durabill_webhook_attempts_total{outcome="5xx"}') !== 1) {
      values = await samples();
    }
    expect(values.get('durabill_webhook_attempt_seconds_count')).to.equal(1);
    while (values.get('durabill_webhook_backlog_deliveries{status="retrying"}') !== 1) {
      values = await samples();
    }
  });

  it('tell how far billing runs are', async () => {
    await runBilling(tenant, '2026-01-01', '2026-12-31');
    const values = await samples();
    const due = values.get('durabill_billing_accounts_due_total');
    expect(due).to.be.greaterThan(0);
    expect(values.get('durabill_billing_accounts_done_total')).to.equal(due);
    expect(values.get('durabill_billing_invoices_total')).to.be.greaterThan(0);
  });

  it('tell how many events wait in each partition', async () => {
    const metrics = openMetrics(() => new Map());
    metrics.showWaiting([
      { tenantId: 'a', partition: 3, offset: 5, end: 9 },
      { tenantId: 'b', partition: 3, offset: 0, end: 2 },
    ]);
    const lag = async () => samplesOf(await metrics.registry.metrics());
    // Of both tenants together: 4 and 2.
    expect((await lag()).get('durabill_usage_lag_events{partition="3"}')).to.equal(6);
    metrics.showWaiting([]);
    expect((await lag()).has('durabill_usage_lag_events{partition="3"}')).to.equal(false);
  });

  it('hold no tenant, and are not among what tenants may call', async () => {
    expect(await read()).not.to.include(tenant.id);
    await tenant.get('/metrics').expect(404);
    const ready = await fetch(`${operator.url}/readyz`);
    expect([ready.status, await ready.json()]).to.deep.equal([
      200,
      { status: 'ready', database: true, temporal: true, worker: true, broker: true },
    ]);
  });

  it('are all on the dashboard, which asks for no others', async () => {
    const text = await read();
    const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    const known = families.flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    );
    const dashboard = await readFile(
      new URL('../../../docs/grafana/durabill.json', import.meta.url),
      'utf8',
    );
    const { panels } = JSON.parse(dashboard) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const named = queries.flatMap(
      (query) => query.match(/\b[a-z]+_[a-z0-9_]+(?=[{[), ]|$)/g) ?? [],
    );
    const metrics = new Set(named.filter((name) => !/^histogram_quantile$/.test(name)));
    expect([...metrics].filter((name) => !known.includes(name))).to.deep.equal([]);
    const own = families.flatMap(([, name = '']) => (name.startsWith('durabill_') ? [name] : []));
    expect(own.filter((name) => !queries.some((query) => query.includes(name)))).to.deep.equal([]);
    expect(own).to.have.length.greaterThan(15);
  });

  it('are told without the database too, and say that it is away', async () => {
    expect((await samples()).get('durabill_part_up{part="database"}')).to.equal(1);
    await cable.cut();
    const values = await samples();
    await cable.mend();
    expect(values.get('durabill_part_up{part="database"}')).to.equal(0);
    expect(values.get('durabill_part_up{part="temporal"}')).to.equal(1);
    expect(values.get('durabill_ingest_accepted_events_total')).to.equal(4);
    expect(values.has('durabill_webhook_backlog_deliveries{status="retrying"}')).to.equal(false);
  });
});
