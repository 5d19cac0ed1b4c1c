import { expect } from 'chai';
import { accounts, makeAccount, noSuchId } from '../../support/billing/accounts.js';
import type { TestTenant } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('accounts', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const create = (body: object) => makeAccount(tenant, body);

  describe('create', () => {
    // spec/resources.md R6, R23, R28, R32
    it('makes an account with its addresses and canonical names', async () => {
      const { body } = await tenant
        .post(accounts, {
          name: 'Acme',
          number: 'N-1',
          externalId: 'acme-1',
          billingDay: 31,
          isMaster: true,
          netTerm: 'net 30',
          defaultCurrency: 'us dollar',
          contactInfoList: [{ email: 'a@acme.example', tags: ['x', { y: null }] }],
          accountPaymentProfileList: [{ card: '4242' }],
          addresses: [
            { line1: '1 Main St', country: 'USA', zipCode: '10001', taxId: 'T1' },
            { line1: 'Rue 2', country: 'France' },
            { line1: 'C', country: 'de' },
          ],
        })
        .expect(201);
      expect(body).to.include({
        name: 'Acme',
        number: 'N-1',
        externalId: 'acme-1',
        billingDay: 31,
        isMaster: true,
        netTerm: 'Net 30',
        defaultCurrency: 'USD',
        status: 'Active',
        approvalStatus: 'Draft',
      });
      expect(body.contactInfoList).to.deep.equal([
        { email: 'a@acme.example', tags: ['x', { y: null }] },
      ]);
      expect(body.accountPaymentProfileList).to.deep.equal([{ card: '4242' }]);
      expect(body.addresses.map((address: { country: string }) => address.country)).to.deep.equal([
        'United States of America',
        'France',
        'Germany',
      ]);
      expect(body.addresses[0]).to.include({
        accountId: body.id,
        line1: '1 Main St',
        line2: null,
        zipCode: '10001',
        taxId: 'T1',
      });
    });

    // spec/resources.md R27, R28
    it('needs only a name, and null means none', async () => {
      const body = await create({
        name: 'Bare',
        number: null,
        externalId: null,
        billingDay: null,
        isMaster: null,
        netTerm: null,
        defaultCurrency: null,
        contactInfoList: null,
        accountPaymentProfileList: null,
        addresses: null,
      });
      expect(body).to.include({ number: null, isMaster: false, netTerm: null });
      expect(body).to.deep.include({ contactInfoList: [] });
      expect(body.addresses).to.deep.equal([]);
    });

    const faults: [name: string, body: object | string, field: string][] = [
      ['no name', {}, 'name'],
      ['a blank name', { name: ' \t' }, 'name'],
      ['a null name', { name: null }, 'name'],
      ['a name that is a number', { name: 5 }, 'name'],
      ['a long name', { name: 'x'.repeat(256) }, 'name'],
      ['an unknown property', { name: 'A', colour: 'red' }, 'colour'],
      ['a billing day of 0', { name: 'A', billingDay: 0 }, 'billingDay'],
      ['a billing day of 32', { name: 'A', billingDay: 32 }, 'billingDay'],
      ['half a billing day', { name: 'A', billingDay: 1.5 }, 'billingDay'],
      ['a billing day of 40 digits', `{"name":"A","billingDay":${'1'.repeat(40)}}`, 'billingDay'],
      ['a flag as text', { name: 'A', isMaster: 'true' }, 'isMaster'],
      ['an unknown net term', { name: 'A', netTerm: 'Net 31' }, 'netTerm'],
      ['an unknown currency', { name: 'A', defaultCurrency: 'XXQ' }, 'defaultCurrency'],
      ['an address without line1', { name: 'A', addresses: [{}] }, 'addresses[0].line1'],
      [
        'an unknown country',
        { name: 'A', addresses: [{ line1: 'x' }, { line1: 'x', country: 'Atlantis' }] },
        'addresses[1].country',
      ],
      [
        'an address of another account',
        { name: 'A', addresses: [{ line1: 'x', accountId: noSuchId }] },
        'addresses[0].accountId',
      ],
      ['contacts that are text', { name: 'A', contactInfoList: ['x'] }, 'contactInfoList[0]'],
      ['a contact that is a decimal', '{"name":"A","contactInfoList":[1e2]}', 'contactInfoList[0]'],
      [
        'a contact with a number of 40 digits',
        `{"name":"A","contactInfoList":[{"phone":{"n":[${'1'.repeat(40)}]}}]}`,
        'contactInfoList[0]',
      ],
      ['a NUL in a name', '{"name":"A\\u0000"}', 'name'],
      ['a lone surrogate in a name', '{"name":"A\\ud800"}', 'name'],
      ['an array', '[]', 'body'],
      ['broken JSON', '{"name":', 'JSON'],
      ['no body', '', 'body'],
    ];
    for (const [name, body, field] of faults) {
      // spec/resources.md R16, R87
      it(`refuses ${name}`, async () => {
        const { body: before } = await tenant.get(accounts).expect(200);
        const { body: answer } = await tenant.post(accounts, body).expect(400);
        expect(answer).to.include({ status: 400, error: 'Validation Error' });
        expect(answer.path).to.equal(`uri=${accounts}`);
        expect(answer.message).to.contain(field);
        const { body: after } = await tenant.get(accounts).expect(200);
        expect(after.data.totalElements).to.equal(before.data.totalElements);
      });
    }

    // spec/resources.md R27
    it('refuses a taken number or external id, but not in another tenant', async () => {
      await create({ name: 'First', number: 'TAKEN', externalId: 'taken' });
      const { body } = await tenant.post(accounts, { name: 'B', number: 'TAKEN' }).expect(409);
      expect(body).to.include({ status: 409, error: 'Conflict' });
      await tenant.post(accounts, { name: 'B', externalId: 'taken' }).expect(409);
      const other = await instance.tenant();
      await other
        .post(accounts, { name: 'Other', number: 'TAKEN', externalId: 'taken' })
        .expect(201);
      const { body: mine } = await tenant.get(`${accounts}/by-external-id/taken`).expect(200);
      const { body: theirs } = await other.get(`${accounts}/by-external-id/taken`).expect(200);
      expect(mine.data.Name).to.equal('First');
      expect(theirs.data.Name).to.equal('Other');
    });

    // spec/resources.md R27
    it('lets one of many parallel creates of a number win', async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => tenant.post(accounts, { name: 'Race', number: 'RACE' })),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 29 }, () => 409)]);
    });
  });

  describe('read', () => {
    // spec/resources.md R9, R29
    it('shows the row, without addresses', async () => {
      const { id } = await create({
        name: 'Row',
        externalId: 'row/ü 1',
        netTerm: 'Net 7',
        defaultCurrency: 'EUR',
        addresses: [{ line1: 'x' }],
      });
      const { body, headers } = await tenant.get(`${accounts}/${id}`).expect(200);
      expect(body).to.include({ success: true, status: 200 });
      expect(body.errors).to.deep.equal([]);
      expect(body.requestId).to.equal(headers['x-request-id']);
      expect(body.data).to.include({ __type__: 'Account', Id: id, Name: 'Row', BillingDay: null });
      expect(body.data.Status__r).to.deep.equal({ Name: 'Active' });
      expect(body.data.ApprovalStatus__r).to.deep.equal({ Name: 'Draft' });
      expect(body.data.Status).to.match(/^[0-9a-f-]{36}$/);
      expect(body.data.DefaultCurrency__r).to.deep.equal({ Name: 'EUR' });
      expect(body.data).to.include({ Gst: null, Pan: null, Cin: null });
      expect(body.data).to.not.have.property('Addresses');

      const key = encodeURIComponent('row/ü 1');
      const { body: byKey } = await tenant.get(`${accounts}/by-external-id/${key}`).expect(200);
      expect(byKey.data).to.deep.equal(body.data);
      const { body: external } = await tenant.get(`${accounts}/${key}?isExternal=true`).expect(200);
      expect(external.data).to.deep.equal(body.data);
    });

    // spec/resources.md R21
    it('takes an id in upper case', async () => {
      const { id } = await create({ name: 'Upper' });
      const { body } = await tenant.get(`${accounts}/${id.toUpperCase()}`).expect(200);
      expect(body.data.Id).to.equal(id);
    });

    it('answers 404 for what is not there', async () => {
      for (const path of [
        noSuchId,
        'not-a-uuid',
        'acme-1',
        'by-external-id/unknown',
        'by-external-id/addresses',
        'unknown?isExternal=true',
        'a%00b',
        'by-external-id/a%00b',
      ]) {
        const { body } = await tenant.get(`${accounts}/${path}`).expect(404);
        expect(body).to.include({ status: 404, error: 'Not Found' });
      }
    });

    it('refuses an isExternal that is no boolean', async () => {
      const { body } = await tenant.get(`${accounts}/x?isExternal=maybe`).expect(400);
      expect(body.message).to.contain('isExternal');
    });
  });

  describe('list', () => {
    let own: TestTenant;
    before(async () => {
      own = await instance.tenant();
      for (let index = 0; index < 23; index += 1) {
        const two = String(index).padStart(2, '0');
        await own
          .post(accounts, { name: `A ${two}`, number: `50%_${two}`, externalId: `Key-${two}` })
          .expect(201);
      }
    });

    // spec/resources.md R12, R13
    it('pages by name, at most 20 a page', async () => {
      const { body } = await own.get(`${accounts}?size=500`).expect(200);
      expect(body.data).to.include({
        totalElements: 23,
        totalPages: 2,
        size: 20,
        number: 0,
        numberOfElements: 20,
        first: true,
        last: false,
        empty: false,
      });
      expect(body.data.content[0]).to.include({ __type__: 'Account', Name: 'A 00' });
      const { body: next } = await own.get(`${accounts}?page=1`).expect(200);
      const names = next.data.content.map((row: { Name: string }) => row.Name);
      expect(names).to.deep.equal(['A 20', 'A 21', 'A 22']);
      expect(next.data).to.include({ number: 1, first: false, last: true });
      const { body: beyond } = await own.get(`${accounts}?page=9`).expect(200);
      expect(beyond.data.content).to.deep.equal([]);
      expect(beyond.data).to.include({ totalElements: 23, empty: true });
    });

    it('pages by creation, which those that are added meanwhile do not shift', async () => {
      const others = await instance.tenant();
      const add = (name: string) => others.post(accounts, { name }).expect(201);
      const namesOf = async (page: number, more = '') => {
        const { body } = await others.get(`${accounts}?order=created&size=2&page=${page}${more}`);
        return body.data.content.map(({ Name }: { Name: string }) => Name);
      };
      for (const name of ['M', 'Z', 'C']) await add(name);
      expect(await namesOf(0)).to.deep.equal(['M', 'Z']);
      await add('A');
      expect(await namesOf(1)).to.deep.equal(['C', 'A']);
      expect(await namesOf(0, '&q=z')).to.deep.equal(['Z']);
      const { body } = await others.get(`${accounts}?order=age`).expect(400);
      expect(body.message).to.include("'order' 'age'");
      const { body: byName } = await others.get(`${accounts}?order=name&size=1`).expect(200);
      expect(byName.data.content[0].Name).to.equal('A');
    });

    // spec/resources.md R14
    it('searches name, number and external id, and takes % and _ as they are', async () => {
      const found = async (q: string): Promise<number> =>
        (await own.get(`${accounts}?q=${encodeURIComponent(q)}`).expect(200)).body.data
          .totalElements;
      expect(await found('a 0')).to.equal(10);
      expect(await found('KEY-1')).to.equal(10);
      expect(await found('0%_2')).to.equal(3);
      expect(await found('%%')).to.equal(0);
      expect(await found('A__0')).to.equal(0);
      expect(await found('\\')).to.equal(0);
      expect(await found('')).to.equal(23);
    });

    it('finds the whole of a searched text, in one of its texts', async () => {
      const tenant = await instance.tenant();
      for (const account of [
        { name: 'Acme 1234', number: 'N-1' },
        { name: 'Acme 12345', number: 'N-2' },
        // Both words, but in two texts.
        { name: 'Acme', number: 'N-1234' },
        { name: 'Other 1234', number: 'N-3' },
      ]) {
        await tenant.post(accounts, account).expect(201);
      }
      const found = async (q: string): Promise<string[]> => {
        const { body } = await tenant.get(`${accounts}?q=${encodeURIComponent(q)}`).expect(200);
        return body.data.content.map(({ Name }: { Name: string }) => Name);
      };
      expect(await found('ACME 1234')).to.deep.equal(['Acme 1234', 'Acme 12345']);
      expect(await found('cme 12345')).to.deep.equal(['Acme 12345']);
      expect(await found('acme_1234')).to.deep.equal([]);
      expect(await found('1234')).to.have.length(4);
    });

    for (const query of ['page=-1', 'page=x', 'size=0', 'size=1.5', 'page=1e2', 'q=%00']) {
      // spec/resources.md R13
      it(`refuses ?${query}`, async () => {
        const { body } = await own.get(`${accounts}?${query}`).expect(400);
        expect(body.message).to.contain(query.split('=')[0]);
      });
    }
  });

  // spec/resources.md R2
  it('refuses a token without ADMIN, and none at all', async () => {
    const weak = await instance.tenant(['TENANTADMIN']);
    const { body } = await weak.get(accounts).expect(403);
    expect(body).to.include({ status: 403, error: 'Forbidden' });
    const none = await fetch(`${instance.url}${accounts}`);
    expect(none.status).to.equal(401);
    expect(none.headers.get('www-authenticate')).to.equal('Bearer');
  });
});
