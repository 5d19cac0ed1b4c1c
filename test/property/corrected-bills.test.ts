import { expect } from 'chai';
import fc from 'fast-check';
import { auditJournal } from '../../src/queries/billing/journal/journal-audit.js';
import { tiers, usage, type Message } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { attribute, meteredByMonth, priceOfEach, row, usdCard } from '../support/story/prices.js';
import { useStory, type Story } from '../support/story/story.js';

interface Content {
  readonly calls: number;
  readonly account: number;
  readonly service: number;
  /** How many months before the one that is billed next. */
  readonly ago: number;
  readonly day: number;
}

/** What happens to usage and its invoices, one after another; `of` chooses one of what is there. */
type Step =
  | ({ readonly kind: 'send' } & Content)
  | ({ readonly kind: 'amend'; readonly of: number } & Content)
  | { readonly kind: 'cancel' | 'void'; readonly of: number }
  | { readonly kind: 'note'; readonly of: number; readonly part: number | null }
  | { readonly kind: 'price'; readonly service: number; readonly dollars: number }
  | { readonly kind: 'bill' };

interface Invoice {
  readonly id: string;
  readonly accountId: string;
  readonly invoiceType: string;
  readonly invoiceStatus: string;
  readonly creditedInvoiceId: string | null;
  readonly items: readonly {
    readonly id: string;
    readonly serviceId: string;
    readonly amount: number;
    readonly tax: number;
    readonly creditedAmount: number;
  }[];
}

/** Sums by account and tax code, as `acme VAT`: net and tax, in cents. */
type Sums = Record<string, { readonly net: number; readonly tax: number }>;

const accounts = ['acme', 'globex'];
/** Whole dollars everywhere, so that no cent of a tax is rounded. */
const taxes = [
  { code: 'VAT', rate: 10 },
  { code: 'GST', rate: 20 },
] as const;
const metered = {
  priceableAttributes: [attribute('api_calls', meteredByMonth)],
  rows: [
    row('api_calls', { ...tiers([0, 10, 0], [10, 60, 3], [60, null, 1]), taxCode: taxes[0].code }),
  ],
};
const each = (dollars: number) => priceOfEach('api_calls', dollars, { taxCode: taxes[1].code });

const content = {
  calls: fc.integer({ min: 0, max: 90 }),
  account: fc.integer({ min: 0, max: 1 }),
  service: fc.integer({ min: 0, max: 1 }),
  ago: fc.integer({ min: 0, max: 2 }),
  day: fc.integer({ min: 10, max: 28 }),
};
const of = fc.nat();
const kind = <K extends Step['kind']>(name: K) => fc.constant(name);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('send'), ...content }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('amend'), of, ...content }) },
  { weight: 3, arbitrary: fc.record({ kind: kind('cancel'), of }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('void'), of }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: kind('note'),
      of,
      part: fc.option(fc.integer({ min: 1, max: 40 })),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('price'),
      service: fc.constant(1),
      dollars: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kind('bill') }) },
);

/** Before all prices with a date, so that the newest of them holds for all usage. */
const opensOn = '2025-01-02';
const firstMonth = 3;
/** Months are counted from January 2026. */
const monthText = (month: number): string =>
  new Date(Date.UTC(2026, month - 1)).toISOString().slice(0, 7);

/** One run of steps against a tenant, with what is true at its end kept beside it. */
class Books {
  readonly story: Story;
  readonly services: string[] = [];
  readonly accountIds: string[] = [];
  readonly truth = new Map<string, Content & { readonly month: number }>();
  readonly prices: { readonly fromDate: string; readonly dollars: number }[] = [];
  month = firstMonth;
  #sent = 0;

  constructor(story: Story) {
    this.story = story;
  }

  async open(): Promise<void> {
    const { story } = this;
    for (const { code, rate } of taxes) await story.taxRate(code, rate);
    for (const name of accounts) this.accountIds.push(await story.account(name));
    const { rows, ...meter } = metered;
    this.services.push(
      await story.service('Metered', { ...meter, rateCards: [usdCard(...rows)] }),
      await story.service('Each', { rateCards: [usdCard(each(2))] }),
    );
  }

  messageOf(id: string, { calls, account, service, day, month }: Content & { month: number }) {
    return usage(accounts[account] ?? '', this.services[service] ?? '', {
      externalTransactionId: id,
      eventTimestamp: `${monthText(month)}-${day}T12:00:00Z`,
      dimensions: { api_calls: String(calls) },
    });
  }

  async send(one: Content): Promise<void> {
    const id = `e-${(this.#sent += 1)}`;
    const known = { ...one, month: this.month - one.ago };
    this.truth.set(id, known);
    await this.story.send(this.messageOf(id, known));
  }

  async correct(way: 'cancel' | 'amend', which: number, one?: Content): Promise<void> {
    const id = [...this.truth.keys()][which % this.truth.size];
    if (id === undefined) return;
    const body: { reason: string; message?: Message } = { reason: 'It was wrong.' };
    if (one) {
      const known = { ...one, month: this.month - one.ago };
      this.truth.set(id, known);
      body.message = this.messageOf(id, known);
    } else this.truth.delete(id);
    await this.story.tenant.post(`/v1/usage-events/${id}/${way}`, body).expect(200);
  }

  /** A price that holds for all usage, which is rated again with it. */
  async price(dollars: number): Promise<void> {
    const { tenant } = this.story;
    const card = { fromDate: `2025-01-${10 + this.prices.length}`, dollars };
    this.prices.push(card);
    await this.version(card);
    const data = { from: '2025-01-01', to: '2028-01-01', reason: 'The price was wrong.' };
    const { body } = await tenant.post('/v1/workflows/rerate-usage/execute', { data }).expect(200);
    expect(body.status, JSON.stringify(body.error)).to.equal('completed');
  }

  async version({ fromDate, dollars }: (typeof this.prices)[number]): Promise<void> {
    const path = `${external}/services/${this.services[1]}/rate-cards/USD/versions`;
    const card = { ...usdCard(each(dollars)), fromDate };
    await this.story.tenant.post(path, card).expect(201);
  }

  async bill(): Promise<void> {
    await this.story.bill(monthText(this.month));
    this.month += 1;
    this.story.travelTo(`${monthText(this.month + 1)}-02`);
  }

  /** Of each account and service so much that nothing of it waits for an invoice any more. */
  async settle(): Promise<void> {
    for (const account of accounts.keys()) {
      for (const service of this.services.keys()) {
        await this.send({ calls: 5_000, account, service, ago: 0, day: 20 });
      }
    }
    await this.bill();
  }

  async invoices(): Promise<Invoice[]> {
    const { tenant } = this.story;
    const { body } = await tenant.get(`${external}/invoices?size=100`).expect(200);
    const posted: Invoice[] = [];
    for (const { Id } of body.data.content as { Id: string }[]) {
      const invoice = (await tenant.get(`${external}/invoices/${Id}`).expect(200)).body as Invoice;
      if (invoice.invoiceStatus === 'Posted') posted.push(invoice);
    }
    return posted.reverse();
  }

  async void(which: number): Promise<void> {
    const all = await this.invoices();
    const credited = new Set(all.map(({ creditedInvoiceId }) => creditedInvoiceId));
    const free = all.filter(({ id }) => !credited.has(id));
    await this.story.voidInvoice(free[which % free.length]?.id);
  }

  /** Credits some of an item, or all that is left; whether anything was left to credit. */
  async note(which: number, part: number | null): Promise<void> {
    const all = (await this.invoices()).filter(({ invoiceType }) => invoiceType === 'Invoice');
    const invoice = all[which % all.length];
    if (!invoice) return;
    const item = invoice.items.find(({ amount }) => amount > 0);
    const items = item && part !== null ? { items: [{ itemId: item.id, amount: part }] } : {};
    const path = `/v1/invoices/${invoice.id}/credit-notes`;
    const answer = await this.story.tenant.post(path, { reason: 'Goodwill.', ...items });
    expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([201, 409]);
  }

  async run(one: Step): Promise<void> {
    if (one.kind === 'send') await this.send(one);
    else if (one.kind === 'amend') await this.correct('amend', one.of, one);
    else if (one.kind === 'cancel') await this.correct('cancel', one.of);
    else if (one.kind === 'void') {
      if ((await this.invoices()).length > 0) await this.void(one.of);
    } else if (one.kind === 'note') await this.note(one.of, one.part);
    else if (one.kind === 'price') await this.price(one.dollars);
    else await this.bill();
  }

  /** What all papers come to that are chosen; those of credit notes with the opposite sign. */
  async billed(isMeant: (invoice: Invoice) => boolean = () => true): Promise<Sums> {
    return this.sumsOf(
      (await this.invoices()).filter(isMeant).flatMap(({ accountId, invoiceType, items }) =>
        items.map(({ serviceId, amount, tax }) => {
          const sign = invoiceType === 'Credit Note' ? -1 : 1;
          return { accountId, serviceId, amount: sign * amount, tax: sign * tax };
        }),
      ),
    );
  }

  /** What the charges come to, with the tax of each code. */
  async charged(): Promise<Sums> {
    const path = '/v1/usage?groupBy=account,service';
    const { body } = await this.story.tenant.get(path).expect(200);
    return this.sumsOf(
      (body.data as { group: { account: string; service: string }; amount: number }[]).map(
        ({ group, amount }) => ({
          accountId: group.account,
          serviceId: group.service,
          amount,
          tax: (amount * (taxes[this.services.indexOf(group.service)]?.rate ?? NaN)) / 100,
        }),
      ),
    );
  }

  sumsOf(
    rows: readonly { accountId: string; serviceId: string; amount: number; tax: number }[],
  ): Sums {
    const sums: Sums = {};
    for (const account of accounts) {
      for (const { code } of taxes) sums[`${account} ${code}`] = { net: 0, tax: 0 };
    }
    for (const { accountId, serviceId, amount, tax } of rows) {
      const account = accounts[this.accountIds.indexOf(accountId)];
      const code = taxes[this.services.indexOf(serviceId)]?.code;
      const key = `${account} ${code}`;
      const had = sums[key] ?? { net: NaN, tax: NaN };
      sums[key] = {
        net: had.net + Math.round(amount * 100),
        tax: had.tax + Math.round(tax * 100),
      };
    }
    return sums;
  }
}

describe('property: corrected usage that is billed', () => {
  const story = useStory({ forEachTest: true, startsOn: opensOn, flowTimeoutMs: 600_000 });

  // spec/beyond.md R236
  for (const [index, steps] of fc
    .sample(fc.array(step, { minLength: 14, maxLength: 24 }), { numRuns: 12, seed: 22 })
    .entries()) {
    it(`invoices and credit notes come to what rating the truth once gives (${index})`, async () => {
      story.travelTo(opensOn);
      const books = new Books(story);
      await books.open();
      const truth = new Books(story.as(await story.instance.tenant()));
      await truth.open();
      story.travelTo(`${monthText(firstMonth + 1)}-02`);
      for (const one of steps) await books.run(one);
      await books.settle();
      const charged = await books.charged();
      const billed = await books.billed();
      const notes = await books.billed(({ creditedInvoiceId }) => creditedInvoiceId !== null);
      for (const [of_, { net, tax }] of Object.entries(charged)) {
        const told = `${of_}: billed ${JSON.stringify(billed[of_])} of ${net} and ${tax}`;
        expect(billed[of_]?.net, told).to.be.within(net + (notes[of_]?.net ?? NaN), net);
        expect(billed[of_]?.tax, told).to.be.within(tax + (notes[of_]?.tax ?? NaN), tax);
      }
      // Without the notes all of it is owed.
      for (const { id, creditedInvoiceId } of await books.invoices()) {
        if (creditedInvoiceId !== null) await story.voidInvoice(id);
      }
      await books.settle();
      for (const card of books.prices) await truth.version(card);
      for (const [id, known] of books.truth) await truth.story.send(truth.messageOf(id, known));
      const expected = await truth.charged();
      expect(await books.charged()).to.deep.equal(expected);
      expect(await books.billed()).to.deep.equal(expected);
      for (const account of accounts) {
        const path = `/v1/accounts/${account}/next-invoice`;
        expect((await story.tenant.get(path).expect(200)).body.invoices).to.deep.equal([]);
      }
      expect(await auditJournal(story.tenant.scope)).to.deep.equal({ count: 0, differences: [] });
    }).timeout(900_000);
  }
});
