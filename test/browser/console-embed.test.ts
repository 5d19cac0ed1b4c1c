import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** What the first pages are called, in each language. */
const languages = [
  ['en', 'Usage', 'Invoices', 'Receipts'],
  ['de', 'Verbrauch', 'Rechnungen', 'Belege'],
  ['es', 'Consumo', 'Facturas', 'Comprobantes'],
  ['fr', 'Consommation', 'Factures', 'Justificatifs'],
  ['ja', '利用状況', '請求書', '明細'],
  ['ar', 'الاستخدام', 'الفواتير', 'الإيصالات'],
] as const;

// spec/beyond.md R428 to R430
describe('the embed that customers see', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let token: string;
  let accountId: string;

  before(async () => {
    accountId = await story.account('acme', { name: 'Acme & Söhne' });
    const calls = await story.service('Calls', meteredService);
    await story.account('other');
    const month = new Date().toISOString().slice(0, 7);
    // The first 1,000 are free, then 0.02 up to 10,000.
    await story.send(
      usage('acme', calls, { externalTransactionId: 'march', dimensions: { api_calls: '2000' } }),
      usage('acme', calls, {
        externalTransactionId: 'recent',
        eventTimestamp: `${month}-01T08:00:00Z`,
        dimensions: { api_calls: '2100' },
      }),
      usage('other', calls, { externalTransactionId: 'secret', dimensions: { api_calls: '9' } }),
    );
    await story.bill('2026-03', { accountId });
    await story.pay(accountId, 5);
    const { body } = await story.tenant
      .post('/v1/embeds', { accountId, expiresInSeconds: 600 })
      .expect(201);
    token = body.token as string;
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  const address = (more: Record<string, string> = {}): string =>
    `/embed#${new URLSearchParams({ token, ...more }).toString()}`;
  /** In a page of its own: another address behind its # would not load it anew. */
  const open = async (title: string, more: Record<string, string> = {}): Promise<void> => {
    // What a page that is left still asks is told to nobody: it would count as asked for ever.
    await visit.quiet();
    await visit.page.goto('about:blank');
    await visit.open(address(more), title);
  };

  for (const [language, usageName, invoicesName, receiptsName] of languages) {
    it(`speaks ${language} on every page, in any width, light and dark`, async () => {
      await open(usageName, { language, accent: '00ff88' });
      expect(
        await visit.page.evaluate('[document.dir, document.documentElement.lang]'),
      ).to.deep.equal([language === 'ar' ? 'rtl' : 'ltr', language]);
      await visit.page.waitForSelector('::-p-aria([role="slider"])');
      await visit.inspect(`embed-usage-${language}`);
      await visit.click('link', invoicesName);
      await visit.arrive(invoicesName);
      await visit.click('link', 'INV-000001');
      await visit.told('INV-000001');
      await visit.page.waitForSelector('::-p-aria([role="button"])');
      await visit.inspect(`embed-invoice-${language}`);
      await visit.click('link', receiptsName);
      await visit.arrive(receiptsName);
      await visit.click('link', 'recent');
      await visit.page.waitForSelector('::-p-aria([role="figure"])');
      await visit.inspect(`embed-receipt-${language}`);
    });
  }

  // spec/beyond.md R590
  it('draws days from left to right, and so names them, in Arabic, too', async () => {
    const days = [1, 2, 3, 4, 5, 6].map((ago) => new Date(Date.now() - ago * 86_400_000));
    const id = await story.account('days');
    const calls = await story.service('Calls of days', meteredService);
    const sent = days.map((day, ago) =>
      usage('days', calls, {
        externalTransactionId: `day-${ago}`,
        eventTimestamp: day.toISOString(),
        dimensions: { api_calls: '1100' },
      }),
    );
    await story.send(...sent);
    const { body } = await story.tenant
      .post('/v1/embeds', { accountId: id, expiresInSeconds: 600 })
      .expect(201);
    await open('الاستخدام', { token: body.token as string, language: 'ar' });
    await visit.page.waitForSelector('::-p-aria([role="slider"])');
    const places = `[...document.querySelectorAll('figure span')].map(
      (name) => name.getBoundingClientRect().left)`;
    const [first, last] = (await visit.page.evaluate(places)) as number[];
    expect(first).to.be.lessThan(Number(last));
    await visit.inspect('embed-days-ar');
  });

  it('writes figures as its language does', async () => {
    // 1,000 of 2,000 are free, 1,000 x 0.02 = 20.
    for (const [language, title, amount] of [
      ['en', 'Invoices', '$20.00'],
      ['de', 'Rechnungen', '20,00 $'],
    ] as const) {
      await open(title, { language, page: 'invoices' });
      await visit.told(amount);
    }
    // spec/beyond.md R451
    await visit.click('link', 'INV-000001');
    await visit.told('Bezahlt');
    expect(await visit.text()).to.match(/Bezahlt\s+5,00\s\$\s+Offen\s+15,00\s\$/);
  });

  it('keeps its token out of addresses, storage and the history, and asks no other origin', async () => {
    visit.requested.splice(0);
    await open('Usage', { language: 'en' });
    await visit.quiet();
    const { page } = visit;
    expect(page.url()).to.equal(`${story.instance.url}/embed#/usage`);
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(kept).to.not.include(token);
    const others = visit.requested.filter(
      (one) => one !== 'about:blank' && new URL(one).origin !== story.instance.url,
    );
    expect(others).to.deep.equal([]);
    await page.reload();
    await visit.arrive('Usage and invoices');
    await visit.checkAccess();
  });

  // spec/beyond.md R572
  it('names the invoice that a credit note credits, says why, and gives its PDF', async () => {
    const path = '/api/v1/external/invoices?q=INV-000001';
    const { body: found } = await story.tenant.get(path).expect(200);
    await story.tenant
      .post(`/v1/invoices/${found.data.content[0].Id}/credit-notes`, { reason: 'Read twice.' })
      .expect(201);
    await open('Invoices', { language: 'en', page: 'invoices' });
    // spec/beyond.md R591
    await visit.click('link', 'Credit note CN-000001');
    await visit.arrive('Credit note CN-000001');
    await visit.find('button', 'Download the PDF');
    await visit.told('Read twice.');
    expect(await visit.text()).to.match(/Payment\s+–/);
    await visit.inspect('embed-credit-note');
    await visit.click('link', 'Invoice INV-000001');
    await visit.arrive('Invoice INV-000001');
  });

  // spec/beyond.md R599
  it('leads from an item of usage to its receipts, and to no others', async () => {
    await open('Invoices', { language: 'en', page: 'invoices' });
    await visit.click('link', 'INV-000001');
    await visit.arrive('Invoice INV-000001');
    await visit.click('link', 'API calls');
    await visit.arrive('Receipts');
    await visit.told('Mar 15, 2026 to Mar 15, 2026');
    await visit.find('link', 'march');
    expect(await visit.text()).to.not.include('recent');
    await visit.inspect('embed-receipts-of-item');
    await visit.click('link', 'march');
    await visit.arrive('Receipt of march');
  });

  // spec/beyond.md R604
  it('shows nothing of the account before once it is given the token of another', async () => {
    const { body } = await story.tenant
      .post('/v1/embeds', { accountId: await story.account('next'), expiresInSeconds: 600 })
      .expect(201);
    await open('Invoices', { language: 'en', page: 'invoices' });
    await visit.told('INV-000001');
    await visit.page.setOfflineMode(true);
    const next = new URLSearchParams({ token: body.token, language: 'en', page: 'invoices' });
    await visit.page.evaluate(`location.hash = ${JSON.stringify(String(next))}`);
    await visit.arrive('Invoices');
    await visit.page.waitForFunction(`!document.body.innerText.includes('INV-000001')`);
    await visit.page.setOfflineMode(false);
    await visit.told('There is no invoice yet.');
    visit.complaints.splice(0);
  });

  it('shows nothing of others, and says so when its access has ended', async () => {
    const { body } = await story.tenant.get('/v1/usage-events/secret').expect(200);
    await open('Receipts', { language: 'en', page: 'receipts' });
    await visit.told('recent');
    expect(await visit.text()).to.not.include('secret');
    await visit.page.evaluate(`location.hash = '#/receipts/${body.id as string}'`);
    await visit.told('There is nothing here.');
    await visit.checkAccess();
    token = 'ended';
    await open('Usage', { language: 'en' });
    await visit.told('This access has ended.');
    await visit.shoot('embed-ended');
    visit.complaints.splice(0);
  });

  // spec/beyond.md R450
  it('shows the own charge of what others bear a part of, and says why not more', async () => {
    const team = await story.account('team');
    const serviceId = await story.service('Shared');
    const accountMap = { [team]: 1, [await story.account('rest')]: 3 };
    await story.subscribe(team, [{ serviceId, accountMap }], { startDate: '2026-01-01' });
    await story.send(usage('team', serviceId, { externalTransactionId: 'shared' }));
    const { body } = await story.tenant
      .post('/v1/embeds', { accountId: team, expiresInSeconds: 600 })
      .expect(201);
    token = body.token as string;
    await open('Receipts', { language: 'en', page: 'receipts' });
    await visit.click('link', 'shared');
    await visit.arrive('Receipt of shared');
    // 100 calls at 0.01 are 1.00, a quarter of it.
    await visit.told('Charge of $0.25');
    await visit.told('Others bear a part of it, so how it came about is not shown.');
    await visit.inspect('embed-receipt-shared');
  });

  it('is tried in the console, which makes its token', async () => {
    await visit.open(`/console/accounts/${accountId}`, 'Acme & Söhne');
    await visit.click('link', 'What the customer sees');
    await visit.arrive('What the customer sees');
    await visit.inspect('embed-tried-before');
    await visit.click('button', 'Make a token of 15 minutes and show it');
    const element = await visit.page.waitForSelector('iframe');
    const frame = await element?.contentFrame();
    await frame?.waitForSelector('::-p-aria([name="Usage"][role="heading"])');
    await frame?.waitForSelector('::-p-aria([role="slider"])');
    await visit.inspect('embed-tried');
    const search = '?language=ar&page=invoices&accent=a01060';
    await visit.open(`/console/accounts/${accountId}/embed${search}`, 'What the customer sees');
    await visit.click('button', 'Make a token of 15 minutes and show it');
    const other = await (await visit.page.waitForSelector('iframe'))?.contentFrame();
    await other?.waitForSelector('::-p-aria([name="الفواتير"][role="heading"])');
    await visit.shoot('embed-tried-ar');
  });

  // spec/beyond.md R523
  it('is shown as it is chosen, at once and by keyboard', async () => {
    const { page } = visit;
    await visit.open(`/console/accounts/${accountId}/embed`, 'What the customer sees');
    await visit.click('button', 'Make a token of 15 minutes and show it');
    const title = 'What Acme & Söhne sees';
    await (await visit.within(title)).arrive('Usage');
    await visit.tabTo('Language');
    await page.keyboard.type('Deutsch');
    await page.waitForFunction('location.search.includes("language=de")');
    await (await visit.within(title)).arrive('Verbrauch');
    await visit.tabTo('Your colour');
    // One after the other, as somebody types: none is lost to what is shown meanwhile.
    await page.keyboard.type('a01060', { delay: 60 });
    await page.waitForFunction('location.search.includes("accent=a01060")');
    const seen = await visit.within(title);
    await seen.arrive('Verbrauch');
    const accent = 'document.documentElement.style.getPropertyValue("--accent")';
    expect(await seen.frame.evaluate(accent)).to.equal('light-dark(#a01060, #d088b0)');
    expect(await page.evaluate('document.activeElement.name')).to.equal('accent');
    expect(await visit.text()).to.include('accent=a01060');
    await visit.inspect('embed-tried-at-once');
    // spec/beyond.md R556
    await page.keyboard.type('x');
    await visit.told('“a01060x” is no colour, and ours is shown');
    await visit.shoot('embed-tried-no-colour');
    await visit.checkAccess();
  });
});
