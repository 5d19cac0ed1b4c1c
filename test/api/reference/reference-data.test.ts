import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('reference data', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  describe('countries', () => {
    const countries = `${external}/countries`;

    // spec/resources.md R4, R12
    it('are an envelope page of rows by name, 100 a page', async () => {
      const { body } = await tenant.get(countries).expect(200);
      expect(body).to.include({ success: true, status: 200 });
      expect(body.data).to.include({ size: 100, number: 0, numberOfElements: 100, first: true });
      expect(body.data.totalElements).to.be.within(240, 260);
      expect(body.data.totalPages).to.equal(3);
      expect(Object.keys(body.data.content[0]).sort()).to.deep.equal([
        'Alpha2Code',
        'Alpha3Code',
        'Code',
        'Id',
        'Name',
        '__type__',
      ]);
      expect(body.data.content[0]).to.include({
        __type__: 'Country',
        Name: 'Afghanistan',
        Code: 'AF',
        Alpha2Code: 'AF',
        Alpha3Code: 'AFG',
      });
      const { body: capped } = await tenant.get(`${countries}?size=1000`).expect(200);
      expect(capped.data.size).to.equal(100);
      const { body: last } = await tenant.get(`${countries}?page=2`).expect(200);
      expect(last.data).to.include({ last: true, first: false, number: 2 });
      expect(last.data.content).to.have.length(body.data.totalElements - 200);
    });

    const searches: [q: string, code: string][] = [
      ['germ', 'DE'],
      ['DEU', 'DE'],
      ['deu', 'DE'],
      ['liechten', 'LI'],
    ];
    for (const [q, code] of searches) {
      // spec/resources.md R87
      it(`are found by '${q}'`, async () => {
        const { body } = await tenant.get(`${countries}?q=${q}`).expect(200);
        const codes = body.data.content.map((row: { Code: string }) => row.Code);
        expect(codes).to.deep.equal([code]);
      });
    }

    it('are found by an alpha-2 code, and by nothing that is no part of them', async () => {
      const { body } = await tenant.get(`${countries}?q=LI&size=5`).expect(200);
      const codes = body.data.content.map((row: { Code: string }) => row.Code);
      // The first name that holds "li" is Austra-li-a.
      expect(codes[0]).to.equal('AU');
      const { body: all } = await tenant.get(`${countries}?q=LI`).expect(200);
      expect(all.data.content.map((row: { Code: string }) => row.Code)).to.include('LI');
      const { body: none } = await tenant.get(`${countries}?q=Atlantis`).expect(200);
      expect(none.data).to.include({ totalElements: 0, totalPages: 0, empty: true });
    });

    it('refuse a page that is none', async () => {
      await tenant.get(`${countries}?page=-1`).expect(400);
      await tenant.get(`${countries}?size=0`).expect(400);
    });
  });

  describe('currencies', () => {
    const currencies = `${external}/currencies`;

    // spec/resources.md R5
    it('are a PageResponse by code, 100 a page', async () => {
      const { body } = await tenant.get(currencies).expect(200);
      expect(body).to.include({ page: 0, size: 100, totalPages: 2 });
      expect(body.content).to.have.length(100);
      expect(Object.keys(body.content[0]).sort()).to.deep.equal(['code', 'id', 'name', 'symbol']);
      expect(body.content[0]).to.include({ code: 'AED', name: 'United Arab Emirates Dirham' });
      const { body: next } = await tenant.get(`${currencies}?page=1`).expect(200);
      expect(next.content).to.have.length(body.totalElements - 100);
      expect(next).to.not.have.property('requestId');
    });

    // spec/resources.md R87
    it('are found by code and by name', async () => {
      const { body: byCode } = await tenant.get(`${currencies}?q=usd`).expect(200);
      expect(byCode.content).to.have.length(1);
      expect(byCode.content[0]).to.include({ code: 'USD', name: 'US Dollar', symbol: '$' });
      const { body: byName } = await tenant.get(`${currencies}?q=JAPANESE`).expect(200);
      expect(byName.content.map((row: { code: string }) => row.code)).to.deep.equal(['JPY']);
      const { body: none } = await tenant.get(`${currencies}?q=doubloon`).expect(200);
      expect(none).to.deep.equal({
        content: [],
        page: 0,
        size: 100,
        totalElements: 0,
        totalPages: 0,
      });
    });

    it('refuse a page that is none', async () => {
      await tenant.get(`${currencies}?page=x`).expect(400);
    });

    // spec/resources.md R7
    it('have the ids that rows point to', async () => {
      const { body: usd } = await tenant.get(`${currencies}?q=USD`).expect(200);
      const { body: account } = await tenant
        .post(`${external}/accounts`, { name: 'A', defaultCurrency: 'usd' })
        .expect(201);
      const { body: row } = await tenant.get(`${external}/accounts/${account.id}`).expect(200);
      expect(row.data.DefaultCurrency).to.equal(usd.content[0].id);
    });
  });

  describe('picklists', () => {
    // spec/platform.md R33
    it('are listed with their values and ids', async () => {
      const { body } = await tenant.get('/v1/picklists').expect(200);
      expect(body.pagination).to.deep.equal({
        total: body.data.length,
        limit: 50,
        offset: 0,
        hasMore: false,
      });
      const netTerm = body.data.find((picklist: { name: string }) => picklist.name === 'netTerm');
      expect(netTerm.values.map((value: { name: string }) => value.name)).to.deep.equal([
        'Due on Receipt',
        'Net 7',
        'Net 15',
        'Net 30',
        'Net 45',
        'Net 60',
        'Net 90',
      ]);
      const { body: account } = await tenant
        .post(`${external}/accounts`, { name: 'P', netTerm: 'Net 45' })
        .expect(201);
      const { body: row } = await tenant.get(`${external}/accounts/${account.id}`).expect(200);
      expect(row.data.NetTerm).to.equal(netTerm.values[4].id);
      const { body: part } = await tenant.get('/v1/picklists?limit=1&offset=2').expect(200);
      expect(part.data).to.deep.equal([body.data[2]]);
      expect(part.pagination).to.include({ limit: 1, offset: 2, hasMore: true });
    });

    // spec/resources.md R23, R45; spec/platform.md R33
    it('have their values under their names, in any letter case', async () => {
      const { body } = await tenant.get('/v1/picklists/PaymentType').expect(200);
      expect(body.data.map((value: { name: string }) => value.name)).to.deep.equal([
        'Pay In',
        'Pay Out',
      ]);
      expect(body.pagination).to.include({ total: 2, hasMore: false });
    });

    // spec/platform.md R34
    it('are seeded with the values of the specification', async () => {
      const { body } = await tenant.get('/v1/picklists').expect(200);
      const values = Object.fromEntries(
        (body.data as { name: string; values: { name: string }[] }[]).map((picklist) => [
          picklist.name,
          picklist.values.map(({ name }) => name).join(', '),
        ]),
      );
      const frequencies = 'Daily, Weekly, Fortnightly, Monthly, Quarterly, Half Yearly, Yearly';
      expect(values).to.deep.include({
        serviceType: 'Usage, Subscription, OTC',
        serviceStatus: 'Active, Inactive',
        accountStatus: 'Active, Inactive',
        approvalStatus: 'Draft, Pending Approval, Approved, Rejected',
        customerType: 'Business, Individual',
        netTerm: 'Due on Receipt, Net 7, Net 15, Net 30, Net 45, Net 60, Net 90',
        paymentMethod:
          'Cash, Check, Credit Card, Debit Card, Bank Transfer, Wire Transfer, ACH, UPI, Wallet, Other',
        paymentType: 'Pay In, Pay Out',
        paymentStatus: 'Pending, Completed, Failed, Cancelled, Refunded',
        balanceStatus: 'Unapplied, Partially Applied, Applied',
        paymentGlStatus: 'Pending, Posted',
        chargeFrequency: `${frequencies}, One Time`,
        billingFrequency: `${frequencies}, One Time`,
        meterResetFrequency: frequencies,
        invoiceStatus: 'Draft, Posted, Void',
        invoicePaymentStatus: 'Unpaid, Partially Paid, Paid',
        invoiceType: 'Invoice, Credit Note',
      });
    });

    // spec/resources.md R11
    it('answer in the error body of their family', async () => {
      const { body } = await tenant.get('/v1/picklists/shoeSize').expect(404);
      expect(body.error).to.include({ code: 'NOT_FOUND' });
      const { body: bad } = await tenant.get('/v1/picklists?limit=0').expect(400);
      expect(bad.error).to.include({ code: 'VALIDATION_ERROR' });
      expect(bad.error.details).to.include({ field: 'limit' });
      const weak = await instance.tenant([]);
      const { body: forbidden } = await weak.get('/v1/picklists').expect(403);
      expect(forbidden.error).to.include({ code: 'FORBIDDEN' });
    });
  });

  it('needs the role ADMIN', async () => {
    const weak = await instance.tenant(['TENANTADMIN']);
    await weak.get(`${external}/countries`).expect(403);
    await weak.get(`${external}/currencies`).expect(403);
  });
});
