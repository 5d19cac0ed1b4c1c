import { expect } from 'chai';
import { setSeller } from '../../src/access/tenants.js';
import { loadPdfInvoice } from '../../src/queries/billing/invoice-pdf.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { usage } from '../support/billing/usage.js';
import { attribute, every, priceOfEach, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

const logic = (chargeType: string, formula: string) => ({
  name: 'Main',
  priceOutput: 'total',
  transactionDimension: 'Customer',
  chargeType,
  steps: [
    { name: 'double', label: 'Twice the count', formula },
    { name: 'total', formula: 'Price(jobs, double)' },
  ],
});

describe('what the paper of an invoice shows', () => {
  const story = useStory();
  const { instance, tenant } = story;

  it('labels, order and contract, steps, how to pay, what is paid, and each day', async () => {
    const payment = {
      paymentText: 'Thank you.',
      iban: 'DE89370400440532013000',
      bic: 'COBADEFFXXX',
    };
    await setSeller(instance.platform.database.platform, tenant.id, {
      name: 'Seller',
      usageAppendix: true,
      ...payment,
    });
    const account = await story.account('acme');
    const calls = await story.service('internal-calls', {
      label: 'Calls',
      priceableAttributes: [attribute('api_calls', { label: 'API calls' })],
    });
    const jobs = (name: string, chargeType: string, formula: string, more: object = {}) =>
      story.service(name, {
        priceableAttributes: [attribute('jobs')],
        rateCards: [usdCard(priceOfEach('jobs', 2))],
        pricingLogic: [logic(chargeType, formula)],
        ...more,
      });
    const usageJobs = await jobs('Jobs', 'Usage', '2 * jobs');
    const plan = await jobs('Plan', 'Subscription', '2 * 3', { serviceType: 'Subscription' });
    await story.subscribe(account, [calls, usageJobs, { serviceId: plan, ...every('Monthly') }], {
      number: 'C-7',
      poNumber: 'PO 9',
      startDate: '2026-03-01',
    });
    const on = (day: string) => ({ eventTimestamp: `2026-03-${day}T10:00:00Z` });
    await story.send(
      usage('acme', calls, on('05')),
      usage('acme', calls, on('05')),
      usage('acme', calls, on('06')),
      usage('acme', usageJobs, { dimensions: { jobs: '4' }, ...on('07') }),
    );
    const { run } = await story.bill('2026-03');
    expect(run.invoiceIds).to.have.length(1);
    const id = run.invoiceIds[0] ?? '';
    await story.pay(account, 5);
    const paper = await loadPdfInvoice(tenant.scope, id);
    // 300 calls at 0.01 are 3; 2 x 4 jobs at 2 are 16; 2 x 3 at 2 are 12: 31, of which 5 are paid.
    expect(paper).to.deep.include({
      contractNumber: 'C-7',
      poNumber: 'PO 9',
      total: '31',
      paid: '5',
      due: '26',
      payment: { text: 'Thank you.', iban: payment.iban, bic: payment.bic },
    });
    const items = paper.items.map(({ description, detail, unit, steps, stepsOf }) => [
      description,
      detail,
      unit,
      stepsOf,
      steps.map(({ label, name, value }) => `${label ?? name} ${value ?? '?'}`),
    ]);
    expect(items).to.have.deep.members([
      ['API calls', 'Calls', 'API calls', 0, []],
      ['Jobs', '', null, 1, ['Twice the count 8', 'total 16']],
      ['Plan', '', null, 1, ['Twice the count 6', 'total 12']],
    ]);
    expect(paper.usage).to.deep.equal(
      [
        ['2026-03-05', 'API calls', 'API calls', '200', '2'],
        ['2026-03-06', 'API calls', 'API calls', '100', '1'],
        ['2026-03-07', 'Jobs', null, '8', '16'],
      ].map(([date, description, unit, volume, amount]) => ({
        date,
        description,
        unit,
        volume,
        amount,
      })),
    );
    await story.voidInvoice(id);
    const voided = await loadPdfInvoice(tenant.scope, id);
    expect(voided).to.deep.include({ isVoid: true, paid: '0', due: '0', payment: null });
    // The stored one was made from the same.
    const { body } = await tenant.get(`${external}/invoices/${id}/pdf`).expect(200);
    expect((body as Buffer).subarray(0, 5).toString()).to.equal('%PDF-');
    await asOwner(instance.databaseUrl, (client) =>
      client.query('update seller set usage_appendix = false where tenant_id = $1', [tenant.id]),
    );
    expect((await loadPdfInvoice(tenant.scope, id)).usage).to.equal(null);
  });

  // spec/beyond.md R485
  it('is what the API says of it beside the items, tax by rate too', async () => {
    await story.taxRate('FULL', 19);
    await story.taxRate('LOW', 7);
    const buyer = await story.account('buyer', {
      name: 'Käufer & Co',
      addresses: [{ line1: 'Weg 1', city: 'Ulm', country: 'Germany' }],
    });
    const both = await story.service('Both', {
      priceableAttributes: [attribute('books'), attribute('lamps')],
      rateCards: [
        usdCard(
          priceOfEach('books', 10, { taxCode: 'LOW' }),
          priceOfEach('lamps', 100, { taxCode: 'FULL' }),
        ),
      ],
    });
    await story.subscribe(buyer, [both], { number: 'C-8', poNumber: 'PO 10' });
    await story.send(usage('buyer', both, { dimensions: { books: '3', lamps: '2' } }));
    const { run } = await story.bill('2026-03', { accountId: buyer });
    const id = run.invoiceIds[0] ?? '';
    const path = `${external}/invoices/${id}`;
    const { seller, buyer: payer, payment } = await loadPdfInvoice(tenant.scope, id);
    const { body } = await tenant.get(`${path}?paper=true`).expect(200);
    expect(body.paper).to.deep.equal({
      seller: { name: 'Seller', lines: seller.lines },
      buyer: { name: 'Käufer & Co', lines: payer.lines },
      contractNumber: 'C-8',
      poNumber: 'PO 10',
      // 3 x 10 at 7 % and 2 x 100 at 19 %
      taxes: [
        { rate: 7, base: 30, tax: 2.1 },
        { rate: 19, base: 200, tax: 38 },
      ],
      payment,
    });
    expect(payer.lines).to.include('Weg 1');
    expect((await tenant.get(path).expect(200)).body).to.not.have.property('paper');
    await story.voidInvoice(id);
    const { body: voided } = await tenant.get(`${path}?paper=true`).expect(200);
    expect(voided.paper.payment).to.equal(null);
  });
});
