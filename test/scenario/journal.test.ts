import { expect } from 'chai';
import pg from 'pg';
import { keepJournal } from '../../src/commands/billing/journal/recognize-deferred.js';
import { mergeUsageTotals } from '../../src/commands/usage/project-usage.js';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { openBalances } from '../support/billing/journal.js';
import { readExport } from '../support/billing/exports.js';
import { usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { every, flatPrice, priceOfEach, subscriptionOf, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

interface Entry {
  readonly at: string;
  readonly kind: string;
  readonly postings: readonly { readonly account: string; readonly amount: number }[];
}

/** A month of an account, in the journal. It lies ahead, so that its days are not over when it is booked. */
describe('the journal', () => {
  const story = useStory({ startsOn: '2098-02-02' });
  const { tenant, instance } = story;
  let accountId = '';
  let invoiceId: string | undefined;

  const entries = async (query = ''): Promise<Entry[]> => {
    const { data } = (await tenant.get(`/v1/journal?limit=1000${query}`).expect(200)).body;
    for (const { postings } of data as Entry[]) {
      const sum = postings.reduce((total, { amount }) => total + amount * 1e6, 0);
      expect(Math.round(sum)).to.equal(0);
    }
    return data;
  };
  const linesOf = (found: readonly Entry[]): string[] =>
    found.map(
      ({ kind, postings }) =>
        `${kind}: ${postings.map(({ account, amount }) => `${account} ${amount}`).join(', ')}`,
    );
  /** The accounts that do not stand at zero. */
  const balances = (query = '') => openBalances(tenant, query);
  /** Recognizes what is over by the clock of the story. */
  const keep = async (): Promise<void> => {
    while (await keepJournal({ ...tenant.scope, now: instance.platform.now }));
  };
  const query = async (sql: string): Promise<void> => {
    const db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
    try {
      await db.query(sql.replaceAll('$T', `'${tenant.id}'`));
    } finally {
      await db.end();
    }
  };

  before(async () => {
    await story.taxRate('VAT', 19);
    accountId = await story.account('acme');
    const taxed = usdCard(priceOfEach('api_calls', 0.0125, { taxCode: 'VAT' }));
    const callsId = await story.service('Calls', { rateCards: [taxed] });
    const seatsId = await story.service('Seats', subscriptionOf(flatPrice('seats', 31)));
    const wallet = { title: 'W', accountId, currency: 'USD', balance: 2 };
    const walletId = (await tenant.post(`${external}/wallets`, wallet).expect(201)).body.id;
    await tenant
      .post(`/v1/wallets/${walletId}/grants`, {
        externalId: 'gift',
        amount: 1,
        kind: 'promotional',
        priority: -1,
      })
      .expect(201);
    await story.subscribe(accountId, [
      { serviceId: seatsId, startDate: '2098-01-01', ...every('Monthly') },
    ]);
    // 333 calls at 0.0125 = 4.1625: the gift pays 1, the wallet 2, and 1.1625 is billed.
    await story.send(
      usage('acme', callsId, {
        dimensions: { api_calls: '333' },
        eventTimestamp: '2098-01-10T10:00:00Z',
      }),
    );
  });

  // spec/beyond.md R301, R303
  it('has charges, grants and what they pay, at once', async () => {
    expect(linesOf(await entries()).slice(0, 2)).to.deep.equal([
      'grant: wallet -2, clearing 2',
      'grant: promotional -1, promotions 1',
    ]);
    expect(await balances()).to.deep.equal({
      clearing: 2,
      promotions: 1,
      unbilled: 1.1625,
      revenue: -4.1625,
    });
  });

  // spec/beyond.md R302, R304
  it('has an invoice with its tax and its rounding, and earns a subscription day by day', async () => {
    const { invoices } = await story.bill('2098-01', { accountId });
    invoiceId = invoices[0]?.id;
    await keep();
    // 4.1625 is 4.16 on the invoice, of which 1.16 is left with 0.22 of tax; seats 31 without.
    expect(invoices[0]).to.include({ amount: 32.16, taxAmount: 0.22 });
    expect(linesOf(await entries('&kind=invoice'))).to.deep.equal([
      'invoice: receivable 32.38, tax -0.22, unbilled -32.1625, rounding 0.0025',
    ]);
    expect(linesOf(await entries('&kind=recurring'))).to.deep.equal([
      'recurring: unbilled 31, deferred -31',
    ]);
    const days = await entries('&account=deferred&kind=recognition');
    expect(days.map(({ at }) => at.slice(0, 10)).slice(0, 2)).to.deep.equal([
      '2098-01-01',
      '2098-01-02',
    ]);
    expect(new Set(linesOf(days))).to.deep.equal(new Set(['recognition: deferred 1, revenue -1']));
    expect(days).to.have.length(31);
    expect(await balances('?at=2098-01-11')).to.include({ deferred: -21 });
    expect(await balances()).to.deep.equal({
      clearing: 2,
      promotions: 1,
      receivable: 32.38,
      tax: -0.22,
      revenue: -35.1625,
      rounding: 0.0025,
    });
  });

  it('has payments and what they pay, and what a credit note gives back', async () => {
    await story.pay(accountId, 40);
    expect(await balances(`?accountId=${accountId}`)).to.include({ cash: 40, unapplied: -7.62 });
    await tenant
      .post(`/v1/invoices/${invoiceId}/credit-notes`, { reason: 'It did not work.' })
      .expect(201);
    const after = await balances();
    expect(after).to.include({ cash: 40, unapplied: -40, credited: 32.16 });
    expect(after).not.to.have.any.keys('receivable', 'tax');
    expect(linesOf(await entries('&account=cash'))).to.deep.equal([
      'payment: cash 40, unapplied -40',
    ]);
  });

  // spec/beyond.md R301
  it('books usage behind its totals, a minute of an account at once', async () => {
    const before = await balances();
    await mergeUsageTotals(tenant.scope);
    expect(linesOf(await entries('&kind=usage'))).to.deep.equal([
      'usage: unbilled 4.1625, revenue -4.1625',
    ]);
    expect(await balances()).to.deep.equal(before);
  });

  // spec/beyond.md R305
  it('agrees with the books, and the audit tells where it does not', async () => {
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    await query(`delete from journal_entry where tenant_id = $T and kind = 'payment'`);
    const { differences } = await auditJournal(tenant.scope);
    expect(
      differences.map(({ field, recorded, computed }) => [field, recorded, computed]),
    ).to.deep.equal([
      ['cash in USD', '0', '40'],
      ['unapplied in USD', '0', '-40'],
    ]);
  });

  // spec/beyond.md R305
  it('of an older tenant begins with what its books say', async () => {
    await mergeUsageTotals(tenant.scope);
    await query(`delete from journal_entry where tenant_id = $T`);
    await query(`update journal_state set opened_at = null where tenant_id = $T`);
    await keep();
    expect(await auditJournal(tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    const opened = linesOf(await entries('&kind=opening'));
    expect(opened).to.deep.equal(['opening: cash 40, unapplied -40']);
  });

  // spec/beyond.md R301
  it('is exported by its postings', async () => {
    const { text } = await readExport(instance, tenant, `journal?accountId=${accountId}`);
    const rows = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.pop()).to.deep.equal({ end: true, rows: 2 });
    expect(rows.map(({ position, account, amount }) => [position, account, amount])).to.deep.equal([
      [1, 'cash', 40],
      [2, 'unapplied', -40],
    ]);
    const after = String(rows[0]?.['cursor']);
    const rest = await readExport(instance, tenant, `journal?after=${after}`);
    expect(rest.text.split('\n')).to.have.length(3);
  });

  // spec/beyond.md R302
  it('takes no entry that does not balance, and none is changed', async () => {
    const insert = `insert into journal_entry
      (tenant_id, at, kind, account_id, currency, accounts, amounts)
      values ($T, now(), 'payment', '${accountId}', 'USD', array['cash', 'unapplied'], `;
    const faultOf = (sql: string) =>
      query(sql).then(
        () => 'none',
        (error: Error) => error.message,
      );
    expect(await faultOf(`${insert} array[1, -0.99])`)).to.include('journal_entry_balanced');
    expect(await faultOf(`${insert} array[1])`)).to.include('journal_entry_balanced');
    expect(await faultOf(`update journal_entry set kind = 'x' where tenant_id = $T`)).to.include(
      'append-only',
    );
  });
});
