import { expect } from 'chai';
import { usage } from '../../support/billing/usage.js';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useStory } from '../../support/story/story.js';

const absent = '00000000-0000-4000-8000-000000000000';

/** Billing runs as people look at them. */
describe('billing runs over HTTP', function () {
  this.timeout(120_000);
  const story = useStory();
  let acme: string;
  let calls: string;

  const at = (day: string, api_calls: string, account = 'acme') =>
    usage(account, calls, { eventTimestamp: `${day}T10:00:00Z`, dimensions: { api_calls } });

  before(async () => {
    acme = await story.account('acme', { name: 'Acme' });
    calls = await story.service('Calls');
    // At 0.01 each: 1.00 in February, 3.00 in March, and two events that nobody pays.
    await story.send(
      at('2026-02-10', '100'),
      at('2026-03-10', '300'),
      at('2026-03-11', '100', 'nobody'),
      at('2026-03-12', '100', 'nobody'),
    );
    await story.bill('2026-02');
  });

  const listed = async () => (await story.tenant.get('/v1/billing-runs').expect(200)).body;
  const read = async (id: string) =>
    (await story.tenant.get(`/v1/billing-runs/${id}`).expect(200)).body;

  // spec/beyond.md R376, R377, R504
  it('show what a dry run would bill beside the invoice before, and what it leaves out', async () => {
    await story.preview('2026-03');
    const { data, pagination } = await listed();
    expect(pagination.total).to.equal(2);
    expect(data[0]).to.include({
      status: 'completed',
      periodStart: '2026-03-01',
      periodEnd: '2026-03-31',
      accountId: null,
      dryRun: true,
      invoiceCount: 1,
      problemCount: 1,
      leftOutCount: 2,
    });
    const run = await read(data[0].id);
    expect(run.totals).to.deep.equal([
      { invoiceType: 'Invoice', currency: 'USD', count: 1, amount: 3, taxAmount: 0 },
    ]);
    expect(run.drafts).to.have.length(1);
    expect(run.drafts[0]).to.include({ accountId: acme, accountName: 'Acme', total: 3 });
    expect(run.drafts[0]).to.include({ previousTotal: 1 });
    const problems = run.problems.map(({ code, events }: { code: string; events: number }) => ({
      code,
      events,
    }));
    expect(problems).to.deep.equal([{ code: 'ACCOUNT_NOT_FOUND', events: 2 }]);
  });

  it('show what a run has billed, and lead to its invoices', async () => {
    const { run, invoices } = await story.bill('2026-03', { accountId: acme });
    expect(run.invoiceIds).to.have.length(1);
    const [latest] = (await listed()).data;
    expect(latest).to.include({ accountId: acme, dryRun: false, invoiceCount: 1 });
    const { totals, drafts } = await read(latest.id);
    // spec/beyond.md R540
    const shown = (await listed()).data.find(({ dryRun }: { dryRun: boolean }) => dryRun);
    expect(await read(shown.id)).to.include({ accountId: null, billedBy: null });
    expect(totals[0]).to.include({ count: 1, amount: 3, taxAmount: 0 });
    expect(drafts).to.deep.equal([]);
    const made = await story.tenant
      .get(`${external}/invoices?billingRunId=${latest.id}`)
      .expect(200);
    expect(made.body.data.content.map(({ Id }: { Id: string }) => Id)).to.deep.equal([
      invoices[0]?.id,
    ]);
  });

  it('say why one failed', async () => {
    const [latest] = (await listed()).data;
    // What would make a run fail is mended in tests of runs: only its end matters here.
    const failure = { kind: 'conflict', message: 'The database was away.', details: {} };
    await asOwner(story.instance.databaseUrl, (client) =>
      client.query(
        `update execution set status = 'failed', output = null, answer = null, error = $2
         where id = $1`,
        [latest.id, JSON.stringify(failure)],
      ),
    );
    const failed = { status: 'failed', invoiceCount: null, error: 'The database was away.' };
    expect((await listed()).data[0]).to.include(failed);
    expect(await read(latest.id)).to.include({ ...failed, totals: null, invoiceDate: null });
  });

  // spec/beyond.md R540
  it('name the run that has billed since what a dry run has shown', async () => {
    await story.preview('2026-02');
    const { id } = (await listed()).data[0];
    expect((await read(id)).billedBy).to.equal(null);
    await story.bill('2026-02', { accountId: acme });
    expect((await read(id)).billedBy).to.equal(null);
    await story.bill('2026-02');
    const billed = (await listed()).data[0].id;
    expect((await read(id)).billedBy).to.equal(billed);
    // Those after it show what is left.
    await story.preview('2026-02');
    expect((await read((await listed()).data[0].id)).billedBy).to.equal(null);
    expect((await read(billed)).billedBy).to.equal(null);
  });

  it('are listed alike whether the numbers of their outputs are kept, or have to be looked for', async () => {
    const kept = await listed();
    expect(kept.data.at(-1)).to.include({ invoiceCount: 1, leftOutCount: 0 });
    const { rowCount } = await asOwner(story.instance.databaseUrl, (client) =>
      client.query(
        `update execution set counts = null where tenant_id = $1 and workflow = 'runBilling'`,
        [story.tenant.id],
      ),
    );
    expect(rowCount).to.equal(kept.pagination.total);
    expect(await listed()).to.deep.equal(kept);
  });

  it('are 404 where there is none', async () => {
    await story.tenant.get(`/v1/billing-runs/${absent}`).expect(404);
    await story.tenant.get('/v1/billing-runs?limit=x').expect(400);
  });

  // spec/beyond.md R596
  it('are listed by kind, and show first what differs the most from the invoice before', async () => {
    const kinds = async (query: string): Promise<boolean[]> =>
      (await story.tenant.get(`/v1/billing-runs${query}`).expect(200)).body.data.map(
        ({ dryRun }: { readonly dryRun: boolean }) => dryRun,
      );
    const all = await kinds('');
    expect(await kinds('?kind=run')).to.deep.equal(all.filter((dryRun) => !dryRun));
    expect(await kinds('?kind=dryRun')).to.deep.equal(all.filter((dryRun) => dryRun));
    await story.tenant.get('/v1/billing-runs?kind=dry').expect(400);
    await story.account('late', { name: 'Late' });
    // 3.10 after 3.00, and 1.00 after nothing.
    await story.send(at('2026-04-10', '310'), at('2026-04-11', '100', 'late'));
    await story.preview('2026-04');
    const { drafts } = await read((await listed()).data[0].id);
    expect(
      drafts.map((draft: Record<string, unknown>) => [draft['accountName'], draft['difference']]),
    ).to.deep.equal([
      ['Late', null],
      ['Acme', 0.1],
    ]);
  });

  it('draft amounts of more than fifteen digits as numbers, to the last of them', async () => {
    const whale = await story.account('whale', { name: 'Whale' });
    await story.send(at('2026-01-10', '12345678901234567', 'whale'));
    const data = { periodStart: '2026-01-01', periodEnd: '2026-01-31', dryRun: true };
    const { text, body } = await story.tenant
      .post('/v1/workflows/billing-run/execute', { data: { ...data, accountId: whale } })
      .expect(200);
    // At 0.01 each.
    expect(text).to.include('"amount":123456789012345.67,');
    expect(text).to.not.include('"123456789012345.67"');
    for (const path of [
      `/v1/workflows/billing-run/executions/${body.executionId}`,
      `/v1/billing-runs/${body.executionId}`,
    ]) {
      const { text: shown } = await story.tenant.get(path).expect(200);
      expect(shown).to.include(':123456789012345.67').and.not.include('"123456789012345.67"');
    }
  });
});
