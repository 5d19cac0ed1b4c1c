import { expect } from 'chai';
import pg from 'pg';
import { readExport } from '../../support/billing/exports.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';
import { fillExports, ids } from '../../support/billing/exported-rows.js';

/** The expected values are those that `exported-rows.ts` has written. */
describe('exports', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const neighbour = useTenant(instance);
  before(async () => {
    const db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
    await fillExports(db, tenant.id);
    await fillExports(db, neighbour.id, 'f');
    await db.end();
  });

  const text = async (address: string) => (await readExport(instance, tenant, address)).text;
  const lines = async (address: string) => (await text(address)).split('\n').slice(0, -1);
  const cursors = async (address: string) =>
    (await lines(address))
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { cursor: string }).cursor);

  // spec/beyond.md R24
  it('are lines of NDJSON with all digits, and a last line', async () => {
    const first =
      `{"cursor":"2026-03-01~${ids.charge(1)}","id":"${ids.charge(1)}",` +
      `"usageEventId":"${ids.event(1)}","externalTranId":"txn \\"1\\" 100%","transactionDate":"2026-03-01",` +
      `"accountId":"${ids.account(1)}","masterAccountId":"${ids.account(1)}","serviceId":"${ids.service(1)}",` +
      `"serviceInstanceId":null,"contractId":null,"contractServiceId":null,` +
      `"amount":12345678901234567890.123456789,"discount":0,"taxAmount":0,"quantity":0.00000000000000000001,` +
      `"currency":"USD","usageType":"Charge","chargeType":"Usage","ratedAt":"2026-03-02T00:00:00.123456Z","reverses":null,"correctionId":null}`;
    const found = await lines('rated-transactions');
    expect(found[0]).to.equal(first);
    expect(found.slice(1, -1).map((line) => (JSON.parse(line) as { id: string }).id)).to.deep.equal(
      [ids.charge(2), ids.charge(3)],
    );
    expect(found.at(-1)).to.equal('{"end":true,"rows":3}');
  });

  // spec/beyond.md R24
  it('are CSV with a comment as the last line, and formulas that are none', async () => {
    const found = (await text('payments?format=csv')).split('\r\n');
    expect(found).to.deep.equal([
      'cursor,id,paymentReference,accountId,amount,balance,currency,paymentStatus,balanceStatus,' +
        'paymentType,paymentMethod,paymentDate,approvalStatus,paymentGlStatus,glPaymentDate,' +
        'isManualPayment,participantName,comments',
      `2026-03-05~${ids.payment(1)},${ids.payment(1)},"'=1+1",${ids.account(1)},100.5,0.5,USD,` +
        'Completed,Partially Applied,Pay In,Cash,2026-03-05,Approved,Pending,,true,"A ""B"", C","two\nlines"',
      `2026-03-06~${ids.payment(2)},${ids.payment(2)},"ref-2",${ids.account(2)},7,7,USD,` +
        'Completed,Unapplied,Pay In,Cash,2026-03-06,Approved,Pending,,true,,""',
      '# end, rows: 2',
      '',
    ]);
  });

  it('of usage events have the message as it was sent', async () => {
    const found = (await lines('usage-events')).map((line) => JSON.parse(line) as object);
    expect(found).to.deep.equal([
      {
        cursor: `2026-03-01T10:00:00.000001Z~${ids.event(1)}`,
        id: ids.event(1),
        externalTransactionId: 'txn "1" 100%',
        status: 'rated',
        code: null,
        reason: null,
        accountId: ids.account(1),
        serviceId: ids.service(1),
        eventTimestamp: '2026-03-01T10:00:00.000001Z',
        originalId: null,
        morgId: 'org',
        partition: 0,
        offset: 1,
        receivedAt: '2026-03-02T00:00:00.000000Z',
        processedAt: '2026-03-02T00:00:00.000000Z',
        message: '{ "a":\n1.10 }',
      },
      {
        cursor: `2026-03-02T00:00:00.000000Z~${ids.event(2)}`,
        id: ids.event(2),
        externalTransactionId: null,
        status: 'rejected',
        code: 'INVALID_MESSAGE',
        reason: 'no JSON',
        accountId: null,
        serviceId: null,
        eventTimestamp: null,
        originalId: null,
        morgId: null,
        partition: 0,
        offset: 2,
        receivedAt: '2026-03-02T00:00:00.000000Z',
        processedAt: '2026-03-02T00:00:00.000000Z',
        message: 'no JSON',
      },
      { end: true, rows: 2 },
    ]);
  });

  it('of invoices and their items are in the order of the invoices', async () => {
    const invoices = (await text('invoices?format=csv')).split('\r\n');
    expect(invoices.slice(1, -2)).to.deep.equal([
      `2026-04-01~${ids.invoice(1)},${ids.invoice(1)},"INV-000001",${ids.account(1)},"Account 1","A-1",` +
        'Invoice,Posted,Unpaid,Approved,30.5,3.05,33.55,33.55,USD,2026-04-01,2026-05-01,2026-03-01,2026-03-31,,,,0,,',
      `2026-04-02~${ids.invoice(2)},${ids.invoice(2)},"INV-000002",${ids.account(2)},"Account 2",,` +
        'Invoice,Void,Unpaid,Approved,1,0,1,0,USD,2026-04-02,,,,,2026-04-03T00:00:00.000000Z,"wrong",0,,',
    ]);
    const items = (await lines('invoice-items')).map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    expect(
      items.map(({ cursor, id, invoiceNo, position, amount, tax }) => [
        cursor,
        id,
        invoiceNo,
        position,
        amount,
        tax,
      ]),
    ).to.deep.equal([
      [`2026-04-01~${ids.invoice(1)}~0`, ids.item(2), 'INV-000001', 0, 10.5, 1.05],
      [`2026-04-01~${ids.invoice(1)}~1`, ids.item(1), 'INV-000001', 1, 20, 2],
      [`2026-04-02~${ids.invoice(2)}~0`, ids.item(3), 'INV-000002', 0, 1, 0],
      [undefined, undefined, undefined, undefined, undefined, undefined],
    ]);
  });

  // spec/beyond.md R24, R140
  it('of corrections have each charge before and after, in the order in which it became known', async () => {
    const found = (await lines('corrections')).map((line) => JSON.parse(line) as object);
    const corrected = {
      correctionId: ids.correction(1),
      kind: 'amend',
      reason: 'wrong "unit"',
      actor: 'ada',
      executionId: ids.correction(2),
      correctedAt: '2026-03-03T00:00:00.000001Z',
      usageEventId: ids.event(1),
      serviceId: ids.service(1),
      contractId: null,
      currency: 'USD',
    };
    expect(found).to.deep.equal([
      {
        cursor: `2026-03-03T00:00:00.000001Z~${ids.correction(1)}~0`,
        ...corrected,
        position: 0,
        externalTranId: 'txn-3',
        accountId: ids.account(1),
        transactionDate: '2026-03-02',
        usageType: 'Charge',
        before: 2.5,
        after: -1,
        difference: -3.5,
        beforeId: ids.charge(2),
        afterId: ids.charge(3),
      },
      {
        cursor: `2026-03-03T00:00:00.000001Z~${ids.correction(1)}~1`,
        ...corrected,
        position: 1,
        externalTranId: 'txn-2',
        accountId: ids.account(2),
        transactionDate: '2026-03-01',
        usageType: 'Payout',
        before: 2.5,
        after: 0,
        difference: -2.5,
        beforeId: ids.charge(2),
        afterId: null,
      },
      { end: true, rows: 2 },
    ]);
    expect(await cursors(`corrections?accountId=${ids.account(2)}`)).to.have.length(1);
    expect(await cursors('corrections?to=2026-03-03')).to.deep.equal([]);
    expect((await text('corrections?format=csv')).split('\r\n').at(-2)).to.equal('# end, rows: 2');
  });

  // spec/beyond.md R25
  it('of kind focus are charges in the columns of FOCUS; a payout is a credit', async () => {
    const found = (await lines('focus')).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(found[1]).to.deep.equal({
      cursor: `2026-03-01~${ids.charge(2)}`,
      BilledCost: -2.5,
      EffectiveCost: -2.5,
      ContractedCost: -2.5,
      BillingCurrency: 'USD',
      BillingAccountId: ids.account(2),
      BillingAccountName: 'Account 2',
      SubAccountId: ids.account(1),
      SubAccountName: 'Account 1',
      ChargeCategory: 'Credit',
      ChargeDescription: 'Calls',
      ChargeFrequency: 'Usage-Based',
      ChargePeriodStart: '2026-03-01T00:00:00.000000Z',
      ChargePeriodEnd: '2026-03-02T00:00:00.000000Z',
      PricingCategory: 'Standard',
      PricingQuantity: 3,
      ConsumedQuantity: 3,
      ResourceId: null,
      ServiceCategory: 'Other',
      ServiceName: 'Calls',
      SkuId: ids.service(1),
      x_TransactionId: ids.charge(2),
      x_ExternalTransactionId: 'txn-2',
      x_ContractId: null,
    });
    expect(found.map(({ ChargeCategory }) => ChargeCategory)).to.deep.equal([
      'Usage',
      'Credit',
      'Usage',
      undefined,
    ]);
  });

  it('of the audit name fields as the API does', async () => {
    const found = (await lines(`audit?accountId=${ids.account(2)}`)).map(
      (line) => JSON.parse(line) as Record<string, unknown>,
    );
    expect(found.map(({ entity, action }) => `${String(entity)} ${String(action)}`)).to.deep.equal([
      'account create',
      'payment create',
      'invoice create',
      'undefined undefined',
    ]);
    const [created] = found as { before: null; after: Record<string, unknown> }[];
    expect(created?.before).to.equal(null);
    expect(created?.after).to.include({ name: 'Account 2', isMaster: false });
    expect(created?.after).not.to.have.any.keys('tenantId', 'tenant_id', 'ratingVersion');
    const { body } = await tenant.get('/v1/audit?limit=1000').expect(200);
    const listed = (body as { data: { id: number }[] }).data.map(({ id }) => id).reverse();
    const all = (await lines('audit')).slice(0, -1);
    expect(all.map((line) => (JSON.parse(line) as { id: number }).id)).to.deep.equal(listed);
  });

  // spec/beyond.md R26
  it('hold the beginning of their range and not its end; a date is its midnight', async () => {
    const [one, two, three] = [1, 2, 3].map((n) => ids.charge(n));
    const of = (id = '', day = '2026-03-01') => `${day}~${id}`;
    const cases: [string, string[]][] = [
      ['from=2026-03-01&to=2026-03-02', [of(one), of(two)]],
      ['from=2026-03-01T00:00:00.000001Z', [of(three, '2026-03-02')]],
      ['to=2026-03-02T00:00:00Z', [of(one), of(two)]],
      ['to=2026-03-02T00:00:00.000001Z', [of(one), of(two), of(three, '2026-03-02')]],
      ['from=2026-03-02&to=2026-03-02', []],
      ['accountId=A-1', [of(one), of(three, '2026-03-02')]],
      [`accountId=${ids.account(2)}`, [of(two)]],
    ];
    for (const [query, expected] of cases) {
      expect(await cursors(`rated-transactions?${query}`), query).to.deep.equal(expected);
    }
    const event = (n: number) => cursors(`usage-events?${n === 1 ? 'to' : 'from'}=2026-03-02`);
    expect((await event(1)).length).to.equal(1);
    expect((await event(2)).length).to.equal(1);
    expect(await cursors('usage-events?accountId=acct-1')).to.have.length(1);
  });

  // spec/beyond.md R26
  it('go on behind a cursor as if they had not stopped', async () => {
    for (const kind of [
      'usage-events',
      'rated-transactions',
      'invoices',
      'invoice-items',
      'corrections',
      'audit',
    ]) {
      const whole = await lines(kind);
      const rows = whole.slice(0, -1);
      for (const [index, row] of rows.entries()) {
        const { cursor } = JSON.parse(row) as { cursor: string };
        const rest = await lines(`${kind}?after=${encodeURIComponent(cursor)}`);
        expect(rest.slice(0, -1), kind).to.deep.equal(rows.slice(index + 1));
      }
    }
  });

  const refusals: [what: string, address: string, message: RegExp][] = [
    ['a kind that comes later', 'holds', /'kind' 'holds' must be one of: usage-events, .*focus/],
    [
      'a cursor of another kind',
      'invoices?after=2026-03-01T00:00:00.000000Z~1',
      /'after' must be the cursor/,
    ],
    [
      'a day that is none',
      `invoices?after=2026-02-30~${ids.invoice(1)}`,
      /'after' must be the cursor/,
    ],
    [
      'an inverted range',
      'invoices?from=2026-03-02&to=2026-03-01',
      /'from' must be before 'to': '2026-03-02' is not before '2026-03-01'/,
    ],
    ['a format that is none', 'invoices?format=xml', /'format'/],
    ['an account that is none', 'invoices?accountId=nobody', /names no account/],
    ['an unknown parameter', 'invoices?limit=3', /Known are: format, from, to, accountId, after/],
  ];
  for (const [what, address, message] of refusals) {
    it(`refuse ${what} with 400`, async () => {
      const { body } = await tenant.get(`/v1/exports/${address}`).expect(400);
      expect((body as { error: { message: string } }).error.message).to.match(message);
    });
  }
});
