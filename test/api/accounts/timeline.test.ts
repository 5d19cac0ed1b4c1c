import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { external } from '../../support/servers/instance.js';
import { usage } from '../../support/billing/usage.js';
import { useStory } from '../../support/story/story.js';
import { addGrant, createWallet } from '../../support/billing/wallets.js';

interface Entry {
  readonly at: string;
  readonly kind: string;
  readonly event: string;
  readonly name: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly changed: readonly string[];
  readonly recordId: string | null;
  readonly actor: string | null;
}

// spec/beyond.md R247, R248
describe('the timeline of an account', () => {
  const story = useStory();
  const { tenant } = story;
  let acme: string;

  const page = async (query = '') =>
    (await tenant.get(`/v1/accounts/acme/timeline${query}`).expect(200)).body as {
      data: Entry[];
      pagination: Record<string, unknown>;
    };
  const events = async (query = '') => (await page(query)).data.map(({ event }) => event);

  before(async () => {
    acme = await story.account('acme', { name: 'Acme' });
    await story.account('other');
    const calls = await story.service('Calls');
    await tenant.put(`${external}/accounts/${acme}`, { name: 'Acme Ltd' }).expect(200);
    await story.subscribe('acme', [calls], { name: 'C', number: 'C-1' });
    await story.send(usage('acme', calls), usage('other', calls));
    const [wrong] = await story.send(usage('acme', calls));
    await tenant
      .post(`/v1/usage-events/${wrong}/cancel`, { reason: 'Sent by mistake' })
      .expect(200);
    await addGrant(tenant, await createWallet(tenant, acme), 'G', 7);
    const { invoices } = await story.bill('2026-03', { accountId: acme });
    const payment = { amount: 1, currency: 'USD', paymentDate: '2026-04-01' };
    await tenant
      .post(`${external}/payments`, {
        ...payment,
        accountId: acme,
        paymentMethod: 'Cash',
        paymentReference: 'P-1',
        paymentType: 'Pay In',
      })
      .expect(201);
    await tenant.post(`/v1/invoices/${invoices[0]?.id}/void`, { reason: 'wrong' }).expect(200);
  });

  it('tells of the account, its contracts, invoices, payments and flows, newest first', async () => {
    const { data } = await page();
    const seen = data.map(({ event }) => event);
    expect(seen[0]).to.equal('invoice.voided');
    for (const event of [
      'account.created',
      'account.updated',
      'contract.created',
      'correction.cancel',
      'grant.created',
      'wallet.created',
      'flow.completed',
      'invoice.posted',
      'payment.created',
      'invoice.paid',
      'invoice.voided',
    ]) {
      expect(seen, event).to.include(event);
    }
    const instants = data.map(({ at }) => at);
    expect(instants).to.deep.equal([...instants].sort().reverse());
    const posted = data.find(({ event }) => event === 'invoice.posted');
    // 100 calls at 0.01.
    expect(posted).to.include({ kind: 'invoice', name: 'INV-000001', amount: 1, currency: 'USD' });
    const saved = data.find(({ event }) => event === 'payment.created');
    expect(saved).to.include({ kind: 'payment', name: 'P-1', amount: 1, actor: 'tester' });
    const renamed = data.find(({ event }) => event === 'account.updated');
    expect(renamed).to.deep.include({ kind: 'change', name: 'Acme Ltd', changed: ['name'] });
    expect(data.find(({ name }) => name === 'billing-run')).to.include({ kind: 'flow' });
  });

  // spec/beyond.md R550
  it('says of a credit note how much was credited', async () => {
    const { tenant: own } = story;
    const credited = await story.account('credited');
    const calls = await story.service('Credited calls');
    await story.subscribe('credited', [calls], { name: 'C', number: 'C-2' });
    await story.send(usage('credited', calls));
    const { invoices } = await story.bill('2026-03', { accountId: credited });
    const path = `/v1/invoices/${invoices[0]?.id}`;
    const [item] = (invoices[0]?.items ?? []) as unknown as { id: string }[];
    const items = [{ itemId: item?.id, amount: 0.25 }];
    await own.post(`${path}/credit-notes`, { reason: 'Too much.', items }).expect(201);
    const { body } = await own.get('/v1/accounts/credited/timeline').expect(200);
    const amounts = Object.fromEntries(
      (body.data as Entry[]).map(({ event, amount }) => [event, amount]),
    );
    // 100 calls at 0.01; the note itself is posted, too.
    expect(amounts['invoice.credited']).to.equal(0.25);
  });

  it('has pages, kinds and times', async () => {
    const { pagination, data } = await page('?limit=1000');
    expect(pagination).to.include({ total: data.length });
    const seen: Entry[] = [];
    for (let offset = 0; offset < data.length; offset += 2) {
      const part = await page(`?limit=2&offset=${offset}`);
      expect(part.pagination).to.include({ total: data.length });
      seen.push(...part.data);
    }
    expect(seen).to.deep.equal(data);
    for (const asked of ['payment', 'flow']) {
      const own = data.filter(({ kind }) => kind === asked).map(({ event }) => event);
      expect(own, asked).to.not.be.empty;
      expect(await events(`?kind=${asked}`), asked).to.deep.equal(own);
    }
    expect(await events('?from=2099-01-01')).to.deep.equal([]);
    expect(await events('?to=2020-01-01')).to.deep.equal([]);
    expect(await events(`?from=${data.at(-1)?.at}`)).to.have.length(data.length);
    for (const query of [
      'kind=usage',
      'from=yesterday',
      'from=2026-02-01&to=2026-01-01',
      'size=3',
    ]) {
      await tenant.get(`/v1/accounts/acme/timeline?${query}`).expect(400);
    }
  });

  it('is of one account of one tenant', async () => {
    const { body } = await tenant.get('/v1/accounts/other/timeline').expect(200);
    expect((body.data as Entry[]).map(({ event }) => event)).to.deep.equal(['account.created']);
    for (const unknown of [newId(), 'nobody', '%00']) {
      await tenant.get(`/v1/accounts/${unknown}/timeline`).expect(404);
    }
    const stranger = await story.instance.tenant();
    await stranger.get(`/v1/accounts/${acme}/timeline`).expect(404);
  });
});
