import { expect } from 'chai';
import { runBilling } from '../../support/billing/billing-run.js';
import { beginMoving, writeAsEarlier } from '../../support/billing/earlier-facts.js';
import {
  createAccount,
  createService,
  meteredService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { until } from '../../start/workbench.js';

const row = (priceDimName: string, unitRate: number) => ({
  priceDimName,
  label: priceDimName,
  priceMethod: 'QUANTITY',
  unitRate,
});

const twoRows = {
  priceableAttributes: ['seats', 'calls'].map((name) => ({ name, dimensionDataType: 'Number' })),
  rateCards: [{ currency: 'USD', rows: [row('seats', 2.5), row('calls', 0.001)] }],
};

const march = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };

/** An answer without the ids that each request or draft has of its own, as lines. */
const withoutOwnIds = (answer: unknown): string[] =>
  JSON.stringify(answer, null, 1)
    .split('\n')
    .filter((line) => !/^ *"(requestId|executionId|id|invoiceId)": /.test(line));

/** Facts in the form of versions before docs/decisions/0321, and while workers move them. */
describe('facts of earlier versions', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let externalIds: string[];
  before(async () => {
    await createAccount(tenant, 'acme');
    await createAccount(tenant, 'other');
    const metered = await createService(tenant, 'Metered', meteredService);
    const both = await createService(tenant, 'Both', twoRows);
    externalIds = await send(
      tenant,
      usage('acme', metered, { dimensions: { api_calls: '900' } }),
      usage('acme', metered, { dimensions: { api_calls: '700.25' } }),
      usage('other', metered, { dimensions: { api_calls: '12000' } }),
      usage('acme', both, { dimensions: { seats: '3', calls: '1234.5' } }),
      usage('other', both, { dimensions: { seats: '1', calls: '0' } }),
      usage('nobody', both),
    );
    await waitUntilRated(tenant, 6);
    // Takes the place of the rejected one.
    await send(
      tenant,
      usage('other', both, { externalTransactionId: externalIds[5], dimensions: { calls: '7' } }),
    );
    await waitUntilRated(tenant, 7);
  });

  const owner = <T>(work: Parameters<typeof asOwner<T>>[1]) => asOwner(instance.databaseUrl, work);

  /** All that can be asked about the events and their charges. */
  const ask = async () => {
    const paths = [
      `${external}/rated-transactions`,
      `${external}/rated-transactions?q=${externalIds[3]}`,
      '/v1/usage-events?limit=100',
      '/v1/usage-events/summary',
      '/v1/usage-events?status=duplicate',
      ...externalIds.map((id) => `/v1/usage-events?externalTransactionId=${id}`),
      '/v1/usage?groupBy=account,service,attribute',
      '/v1/usage?from=2026-03-15T11:30:00Z&to=2026-03-15T12:30:00Z&groupBy=attribute',
      ...externalIds.map((id) => `/v1/usage-events/${id}`),
    ];
    const answers = new Map<string, unknown>();
    for (const path of paths) answers.set(path, (await tenant.get(path).expect(200)).body);
    const account = (answers.get(`/v1/usage-events/${externalIds[0]}`) as { accountId: string })
      .accountId;
    const listed = `/v1/usage-events?accountId=${account}`;
    answers.set(listed, (await tenant.get(listed).expect(200)).body);
    const { partitions } = answers.get('/v1/usage-events/summary') as {
      partitions: { partition: number; accepted: number }[];
    };
    const ranges = partitions.map(({ partition, accepted }) => ({
      partition,
      from: 0,
      to: accepted,
    }));
    const outcomes = await tenant.post('/v1/usage-events/outcomes', { ranges }).expect(200);
    answers.set('outcomes', outcomes.body);
    const list = answers.get(paths[0] ?? '') as { data: { content: { Id: string }[] } };
    for (const { Id } of list.data.content) {
      const path = `${external}/rated-transactions/${Id}`;
      answers.set(path, (await tenant.get(path).expect(200)).body);
    }
    for (const kind of ['usage-events', 'rated-transactions']) {
      answers.set(kind, (await tenant.get(`/v1/exports/${kind}`).expect(200)).text);
    }
    const { body } = await tenant
      .post('/v1/workflows/audit-usage/execute', { data: march })
      .expect(200);
    answers.set('audit', body.output);
    const run = await runBilling(tenant, march.periodStart, march.periodEnd, { dryRun: true });
    answers.set('bill', run);
    return Object.fromEntries([...answers].map(([of, answer]) => [of, withoutOwnIds(answer)]));
  };

  it('are answered as before, and as after their move', async () => {
    const before = await ask();
    expect(before['audit']).to.include.members([' "events": 6,', ' "differenceCount": 0,']);
    await owner((client) => writeAsEarlier(client, tenant.id));
    await owner((client) => beginMoving(client, tenant.id));
    expect(await ask()).to.deep.equal(before);
    const left = () =>
      owner(async (client) => {
        const { rows } = await client.query<{ left: number; moved: number }>(
          `select sum(moved)::integer as moved,
             ((select count(*) from rated_dimension where tenant_id = $1)
               + (select count(*) from broker_record where tenant_id = $1)
               + (select count(message) from usage_event where tenant_id = $1)
               + count(*) filter (where done_at is null))::integer as left
           from fact_move where tenant_id = $1`,
          [tenant.id],
        );
        return rows[0];
      });
    await until(async () => (await left())?.left === 0, 20_000, 'the end of the move');
    // Six charges and their ids; seven messages, events by external id and by place, and
    // the six that are rated in their lists.
    expect((await left())?.moved).to.equal(39);
    expect(await ask()).to.deep.equal(before);
  });
});
