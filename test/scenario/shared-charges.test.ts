import { expect } from 'chai';
import { itemLines, type BilledInvoice } from '../support/billing/billing-run.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { meteredService, usage } from '../support/billing/usage.js';
import {
  attribute,
  every,
  flatPrice,
  priceOfEach,
  subscriptionOf,
  usdCard,
} from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** An item in short: volume, amount, tax. */
const short = ({ items }: BilledInvoice) =>
  items.map(({ description, volume, amount, tax }) => [description, volume, amount, tax]);

describe('charges of a line that accounts share', () => {
  const story = useStory({ forEachTest: true });
  const { instance, tenant } = story;
  /** The master account of the contract, and three others in the order of their ids. */
  let master: string;
  let accounts: string[];
  beforeEach(async () => {
    master = await story.account('acme');
    accounts = [];
    for (const name of ['a', 'b']) accounts.push(await story.account(name));
    accounts.push(await story.account('c', { profile: { taxExempt: true } }));
  });

  const sharesOf = (...weights: number[]) =>
    Object.fromEntries(weights.map((weight, index) => [accounts[index] ?? '', weight]));

  /** A contract with one line of a service. */
  const sell = async (serviceId: string, accountMap: object | null, more: object = {}) => {
    const contract = { number: 'C-1', startDate: '2026-01-01', currency: 'USD' };
    const { path, lines } = await story.subscribe(
      master,
      [{ serviceId, accountMap, ...more }],
      contract,
    );
    return `${path}/services/${lines[0]?.id}`;
  };

  const bill = async (month = '2026-03') => {
    const { invoices } = await story.bill(month);
    return new Map(invoices.map((invoice) => [invoice.accountId, invoice]));
  };
  /** Computes March again from what was recorded. */
  const audit = async () => {
    const data = { periodStart: '2026-03-01', periodEnd: '2026-03-31' };
    const { body } = await tenant.post('/v1/workflows/audit-usage/execute', { data }).expect(200);
    return body.output;
  };
  const each = <T>(invoices: ReadonlyMap<string, T>, read: (invoice: T) => unknown) =>
    accounts.map((id) => {
      const invoice = invoices.get(id);
      return invoice && read(invoice);
    });

  // spec/beyond.md R15
  it('divides usage and its tiers; all items together are the whole to the cent', async () => {
    await story.taxRate('VAT', 20);
    const [card] = meteredService.rateCards;
    const rows = card?.rows.map((row) => ({ ...row, taxCode: 'VAT' })) ?? [];
    const serviceId = await story.service('Calls', {
      ...meteredService,
      rateCards: [usdCard(...rows)],
    });
    await sell(serviceId, sharesOf(1, 1, 1));
    const ids = await story.send(
      usage('acme', serviceId, { dimensions: { api_calls: '900' } }),
      usage('acme', serviceId, { dimensions: { api_calls: '5100' } }),
    );
    // 6,000 calls: 1,000 free, 5,000 x 0.02 = 100.
    const { ratedTransactions } = await story.event(ids[1] ?? '');
    const charged = ratedTransactions.map(
      (one: { accountId: string; amount: number; quantity: number; matches: boolean }) => [
        one.accountId,
        one.amount,
        one.quantity,
        one.matches,
      ],
    );
    expect(charged).to.deep.equal([
      [accounts[0], 33.3333333333, 1700, true],
      [accounts[1], 33.3333333334, 1700, true],
      [accounts[2], 33.3333333333, 1700, true],
    ]);
    const [{ explanation }] = ratedTransactions;
    expect(explanation.share).to.deep.equal({
      part: '1 of 3',
      from: '0',
      to: '1',
      of: '3',
      whole: '100',
    });
    expect(explanation.total).to.include({ amount: '33.3333333333' });
    expect(explanation.rows[0]).to.include({ quantity: '5100', amount: '100' });

    expect(await audit()).to.include({ charges: 6, counters: 1, differenceCount: 0 });

    const preview = await story.preview('2026-03');
    expect((preview.invoices ?? []).map(({ amount }) => amount).sort()).to.deep.equal([
      33.33, 33.33, 33.34,
    ]);
    const invoices = await bill();
    expect(invoices.has(master)).to.equal(false);
    // 33.33 + 33.34 + 33.33 = 100; 20 % of 33.33 is 6.666, of 33.34 6.668; the last is exempt.
    expect(each(invoices, short)).to.deep.equal([
      [['API calls (share 1 of 3)', 2000, 33.33, 6.67]],
      [['API calls (share 1 of 3)', 2000, 33.34, 6.67]],
      [['API calls (share 1 of 3)', 2000, 33.33, 0]],
    ]);
    const [first] = [...invoices.values()].map(({ items: [item] }) => item as unknown as Tiered);
    // A third of 1,000, and of 5,000 calls.
    expect(first?.tiers.map(({ volume, amount }) => [volume, amount])).to.deep.equal([
      [333.3333333333, 0],
      [1666.6666666667, 33.3333333333],
    ]);
    const id = invoices.get(accounts[1] ?? '')?.id ?? '';
    const { items } = await story.explain(id);
    expect(items[0]).to.include({ amount: 33.34, exactAmount: 33.3333333334, matches: true });
    expect(items[0].transactions[1].explanation.share).to.include({
      part: '1 of 3',
      from: '1',
    });
  });

  /** So many accounts that share a line, each with the weight 1. */
  const manyShares = async (count: number): Promise<Record<string, number>> => {
    const sql = `insert into account (tenant_id, id, name, external_id, status, approval_status)
      select $1, gen_random_uuid(), 'Many', 'many-' || n, 'Active', 'Draft'
      from generate_series(1, $2::integer) as n returning id`;
    const ids = await asOwner(instance.databaseUrl, async (client) => {
      const { rows } = await client.query<{ id: string }>(sql, [tenant.id, count]);
      return rows.map(({ id }) => id);
    });
    return Object.fromEntries(ids.map((id) => [id, 1]));
  };

  it('writes no more charges at once than a transaction may hold, whatever many accounts bear', async () => {
    const serviceId = await story.service('Calls');
    await sell(serviceId, await manyShares(300));
    // 300 charges with a dimension each are 600 rows of an event, and 24,000 of all.
    const messages = Array.from({ length: 40 }, () => usage('acme', serviceId));
    await story.send(...messages);
    expect(await story.rated()).to.include({ rated: 40, rejected: 0 });
    const sql = `select max(rows)::integer as "most", sum(rows)::integer as "all" from (
      select 2 * count(*) as rows from rated_transaction as charge join usage_event as event
        on event.tenant_id = charge.tenant_id and event.id = charge.usage_event_id
      where charge.tenant_id = $1 group by event.processed_at) as of_one`;
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query(sql, [tenant.id]),
    );
    expect(rows[0]['all']).to.equal(24_000);
    // The last event of a transaction may lead beyond the limit.
    expect(rows[0]['most']).to.be.at.most(10_000 + 600);
  });

  it('rejects an event whose charges would be divided into more parts than rating may cost', async () => {
    const serviceId = await story.service('Calls');
    await sell(serviceId, await manyShares(2_501));
    const [id = ''] = await story.send(usage('acme', serviceId));
    expect(await story.event(id)).to.include({
      status: 'rejected',
      code: 'FORMULA_TOO_EXPENSIVE',
      reason:
        "The 2501 accounts that share the contract service would bear 5002 parts of this event's " +
        'charges: at most 5000',
    });
  });

  interface Tiered {
    readonly tiers: readonly { readonly volume: number; readonly amount: number }[];
  }

  it('frees and bills again what one account bears, when its invoice is void', async () => {
    const serviceId = await story.service('Calls');
    await sell(serviceId, sharesOf(3, 1));
    await story.send(usage('acme', serviceId));
    const invoices = await bill();
    // 100 x 0.01 = 1: three quarters and one.
    expect(each(invoices, ({ amount }) => amount)).to.deep.equal([0.75, 0.25, undefined]);
    await story.voidInvoice(invoices.get(accounts[0] ?? '')?.id);
    const again = await bill();
    expect(each(again, ({ amount }) => amount)).to.deep.equal([0.75, undefined, undefined]);
  });

  const plan = () => story.service('Plan', subscriptionOf(flatPrice('Plan', 100)));
  const monthly = every('Monthly');

  it('divides a subscription and its charged days', async () => {
    await sell(await plan(), sharesOf(1, 1, 1), { ...monthly, startDate: '2026-03-16' });
    const invoices = await bill();
    // 16 of 31 days: 100 x 16 / 31 = 51.6129032258 is 51.61; up to 1/3 17.20, up to 2/3 34.41.
    expect(each(invoices, ({ amount }) => amount)).to.deep.equal([17.2, 17.21, 17.2]);
    const [line] = itemLines(invoices.get(accounts[0] ?? '') ?? ({ items: [] } as never));
    expect(line).to.equal('Plan (share 1 of 3) 2026-03-16..2026-03-31 17.2');
    const id = invoices.get(accounts[1] ?? '')?.id ?? '';
    const { items } = await story.explain(id);
    const [charge] = items[0].charges;
    expect(charge.explanation.share).to.deep.equal({
      part: '1 of 3',
      from: '1',
      to: '2',
      of: '3',
      whole: '51.6129032258',
    });
    expect(charge.explanation.steps.at(-1)).to.include({
      label: '16 of 31 days',
      formula: '100 * 16 / 31',
      value: '51.6129032258',
    });
    expect(charge.explanation.total.amount).to.equal('17.21');
    // April in full: 33.33 + 33.34 + 33.33.
    const april = await bill('2026-04');
    expect(each(april, ({ amount }) => amount)).to.deep.equal([33.33, 33.34, 33.33]);
  });

  it('charges no period again when the shares are changed', async () => {
    const line = await sell(await plan(), null, monthly);
    expect((await bill()).get(master)?.amount).to.equal(100);
    await tenant.put(line, { accountMap: sharesOf(1, 1) }).expect(200);
    expect((await bill()).size).to.equal(0);
    const april = await bill('2026-04');
    expect(each(april, ({ amount }) => amount)).to.deep.equal([50, 50, undefined]);
    await tenant.put(line, { accountMap: sharesOf(1, 0.5, 0.5) }).expect(200);
    expect((await bill('2026-04')).size).to.equal(0);
    await tenant.put(line, { accountMap: null }).expect(200);
    expect((await bill('2026-04')).size).to.equal(0);
    expect((await bill('2026-05')).get(master)?.amount).to.equal(100);
  });

  it('leaves to an account what a row bills it, beside what it shares', async () => {
    const serviceId = await story.service('Calls', {
      priceableAttributes: [attribute('calls'), attribute('jobs')],
      rateCards: [
        usdCard(
          priceOfEach('calls', 1, { label: 'Calls' }),
          priceOfEach('jobs', 1, { label: 'Jobs', billingAccountId: accounts[0] }),
        ),
      ],
    });
    await sell(serviceId, sharesOf(1, 1));
    const dimensions = { calls: '10', jobs: '7' };
    const [id = ''] = await story.send(usage('acme', serviceId, { dimensions }));
    const { ratedTransactions } = await story.event(id);
    expect(ratedTransactions.map(({ matches }: { matches: boolean }) => matches)).to.deep.equal([
      true,
      true,
      true,
    ]);
    expect(await audit()).to.include({ charges: 3, differenceCount: 0 });
    // 7 of its own and half of 10; the other half.
    expect(each(await bill(), ({ amount }) => amount)).to.deep.equal([12, 5, undefined]);
  });

  it('keeps without effect what does not say of whom, and protects who bears a share', async () => {
    const serviceId = await story.service('Calls');
    await sell(serviceId, { anyone: 'half', nobody: 1 });
    await story.send(usage('acme', serviceId));
    expect((await bill()).get(master)?.amount).to.equal(1);
    await tenant.delete(`${external}/accounts/${accounts[0] ?? ''}`).expect(204);
    const { path } = await story.subscribe(
      master,
      [{ serviceId, accountMap: { ofAnotherSystem: sharesOf(1) } }],
      { number: 'C-2' },
    );
    expect((await tenant.get(path).expect(200)).body.number).to.equal('C-2');
    await tenant.delete(`${external}/accounts/${accounts[1] ?? ''}`).expect(204);
    await story.subscribe(master, [{ serviceId, accountMap: { [accounts[2] ?? '']: '0.5' } }], {
      number: 'C-3',
    });
    const refused = await tenant.delete(`${external}/accounts/${accounts[2] ?? ''}`).expect(409);
    expect(refused.body.message).to.include("'C-3'");
  });

  it('knows accounts by what people call them, and keeps what names none as it was sent', async () => {
    const serviceId = await story.service('Fee', subscriptionOf(flatPrice('Fee', 30)));
    const address = await sell(serviceId, { a: 1, b: 2 });
    const { body: line } = await tenant.get(address).expect(200);
    expect(line.accountMap).to.deep.equal(sharesOf(1, 2));
    // 30 x 1 / 3 and 30 x 2 / 3.
    const invoices = await bill();
    expect(each(invoices, ({ amount }) => amount)).to.deep.equal([10, 20, undefined]);
    expect(invoices.has(master)).to.equal(false);
    const put = (accountMap: object) => tenant.put(address, { accountMap });
    const { body: kept } = await put({ nobody: 1, noOne: 'half' }).expect(200);
    expect(kept.accountMap).to.deep.equal({ nobody: 1, noOne: 'half' });
    // Shares with a slip in them would bill the one account what several were to bear.
    for (const [map, message] of [
      [{ a: 1, nobody: 1 }, "'accountMap.nobody' names no account: 'nobody'"],
      [{ a: 1, b: 0 }, "'accountMap.b' must be a weight: a number above 0"],
      [{ a: 1, b: -1 }, "'accountMap.b' must be a weight: a number above 0"],
      [{ a: 1, b: 'half' }, "'accountMap.b' must be a weight: a number above 0"],
      [sharesOf(1, 0), `'accountMap.${accounts[1] ?? ''}' must be a weight: a number above 0`],
    ] as const) {
      const { body: wrong } = await put(map).expect(400);
      expect(wrong.message).to.include(message);
    }
    // A decimal as text is a number.
    await put({ a: '0.5', b: 0.5 }).expect(200);
    const { body: refused } = await put({ a: 1, ...sharesOf(2) }).expect(400);
    expect(refused.message).to.include(`names the account '${accounts[0] ?? ''}' a second time`);
  });
});
