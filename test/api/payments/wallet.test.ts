import { expect } from 'chai';
import { newId } from '../../../src/kernel/id.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const wallets = `${external}/wallets`;

describe('wallets', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let accountId: string;
  before(async () => {
    const account = await tenant.post(`${external}/accounts`, { name: 'Acme' }).expect(201);
    accountId = account.body.id;
  });

  let count = 0;
  const wallet = (changes: object = {}) => {
    count += 1;
    return { title: `Wallet ${count}`, accountId, ...changes };
  };
  const pathOf = ({ id }: { id: string }) => `${wallets}/${id}`;

  describe('create', () => {
    // spec/resources.md R79
    it('fills in what is left out', async () => {
      const { body } = await tenant.post(wallets, wallet()).expect(201);
      const { id, ...rest } = body;
      expect(id).to.match(/^[0-9a-f-]{36}$/);
      expect(rest).to.deep.equal({
        title: `Wallet ${count}`,
        accountId,
        currency: null,
        unit: null,
        balance: 0,
        availableBalance: 0,
        reservedBalance: 0,
        frozenAmount: 0,
        isActive: true,
        approvalStatus: 'Approved',
        customerId: null,
        enableDisableTopUp: false,
        thresholdTopUpAmount: 0,
        autoTopUpAmount: 0,
      });
      expect((await tenant.get(pathOf(body)).expect(200)).body).to.deep.equal(body);
    });

    it('keeps what is given', async () => {
      const given = {
        unit: 'credits',
        balance: 500,
        availableBalance: 449.75,
        reservedBalance: 50,
        frozenAmount: 0.25,
        isActive: false,
        customerId: 'cus_1',
        enableDisableTopUp: true,
        thresholdTopUpAmount: 10,
        autoTopUpAmount: 100,
      };
      const { body } = await tenant.post(wallets, wallet({ ...given, currency: 'euro' }));
      // docs/decisions/0390: what can be spent and what is held follow from the ledger.
      const computed = { availableBalance: 500, reservedBalance: 0 };
      expect(body).to.include({ ...given, ...computed, currency: 'EUR' });
    });

    it('keeps every digit of a balance', async () => {
      // 12345678901234567890.12 has 22 digits: a float would end in ...7168.
      const text = JSON.stringify(wallet({ balance: 1 })).replace(
        '"balance":1',
        '"balance":12345678901234567890.12',
      );
      const created = await tenant.post(wallets, text).expect(201);
      expect(created.text).to.include('"balance":12345678901234567890.12');
    });

    for (const [what, changes, message] of [
      ['no title', { title: undefined }, /'title' is required/],
      ['a blank title', { title: ' ' }, /'title' must not be blank/],
      ['no account', { accountId: undefined }, /'accountId' is required/],
      ['an unknown account', { accountId: newId() }, /'accountId' names no account/],
      ['an empty customerId', { customerId: '' }, /'customerId'/],
      ['a blank customerId', { customerId: '  ' }, /'customerId' must not be blank/],
      ['an unknown currency', { currency: 'Doubloon' }, /'currency'/],
      ['a negative top-up', { autoTopUpAmount: -1 }, /'autoTopUpAmount' must be >= 0/],
    ] as const) {
      // spec/resources.md R78
      it(`refuses ${what}`, async () => {
        const { body } = await tenant.post(wallets, wallet(changes)).expect(400);
        expect(body.message).to.match(message);
      });
    }

    // spec/resources.md R78
    it('refuses a title that is taken; it is free again when the wallet is deleted', async () => {
      const first = wallet();
      const { body } = await tenant.post(wallets, first).expect(201);
      const refused = await tenant.post(wallets, first).expect(409);
      expect(refused.body.message).to.match(/title/);
      await tenant.delete(pathOf(body)).expect(204);
      await tenant.get(pathOf(body)).expect(404);
      await tenant.delete(pathOf(body)).expect(404);
      await tenant.post(wallets, first).expect(201);
    });

    it('makes one of 20 that have the same title and come at the same time', async () => {
      const same = wallet();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => tenant.post(wallets, same)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([201, ...Array.from({ length: 19 }, () => 409)]);
    });
  });

  describe('change', () => {
    it('changes what is given and nothing else', async () => {
      const { body } = await tenant.post(wallets, wallet({ customerId: 'cus_2', balance: 5 }));
      const changes = {
        title: 'Changed',
        enableDisableTopUp: true,
        thresholdTopUpAmount: 20,
        autoTopUpAmount: 99.5,
      };
      const changed = await tenant.put(pathOf(body), changes).expect(200);
      expect(changed.body).to.deep.equal({ ...body, ...changes });
      expect((await tenant.get(pathOf(body)).expect(200)).body).to.deep.equal(changed.body);
    });

    it('takes what was read', async () => {
      const { body } = await tenant.post(wallets, wallet({ currency: 'USD', balance: 1.5 }));
      const read = await tenant.get(pathOf(body)).expect(200);
      const changed = await tenant.put(pathOf(body), read.body).expect(200);
      expect(changed.body).to.deep.equal(body);
    });

    it('clears with null what may be empty, and what is a number becomes 0', async () => {
      const { body } = await tenant
        .post(
          wallets,
          wallet({ currency: 'USD', customerId: 'cus_3', frozenAmount: 3, isActive: false }),
        )
        .expect(201);
      const changed = await tenant
        .put(pathOf(body), { currency: null, customerId: null, frozenAmount: null })
        .expect(200);
      expect(changed.body).to.deep.equal({
        ...body,
        currency: null,
        customerId: null,
        frozenAmount: 0,
      });
      // docs/decisions/0311: one that was switched off is not switched on by it.
      await tenant.put(pathOf(body), { isActive: null }).expect(400);
      await tenant.put(pathOf(body), { title: null }).expect(400);
      await tenant.put(pathOf(body), { accountId: null }).expect(400);
    });

    it('refuses the title of another, unknown accounts, blank ids and unknown wallets', async () => {
      const { body: first } = await tenant.post(wallets, wallet()).expect(201);
      const { body: second } = await tenant.post(wallets, wallet()).expect(201);
      await tenant.put(pathOf(second), { title: first.title }).expect(409);
      await tenant.put(pathOf(second), { accountId: newId() }).expect(400);
      await tenant.put(pathOf(second), { customerId: ' ' }).expect(400);
      await tenant.put(`${wallets}/${newId()}`, { unit: 'credits' }).expect(404);
      await tenant.put(`${wallets}/none`, { unit: 'credits' }).expect(404);
      await tenant.get(`${wallets}/none`).expect(404);
      expect((await tenant.get(pathOf(second)).expect(200)).body).to.deep.equal(second);
    });
  });

  // spec/resources.md R80
  it('are listed by title and found by title and customer id', async () => {
    const other = await instance.tenant();
    const account = await other.post(`${external}/accounts`, { name: 'Other' }).expect(201);
    for (const [title, customerId] of [
      ['charlie', 'cus_100%'],
      ['alpha', 'cus_alpha'],
      ['bravo', null],
    ]) {
      const body = { title, customerId, accountId: account.body.id };
      await other.post(wallets, body).expect(201);
    }
    const page = async (query: string) => (await other.get(`${wallets}${query}`)).body.data;
    const titles = async (query: string) =>
      (await page(query)).content.map((row: { Title: string }) => row.Title);
    expect(await titles('')).to.deep.equal(['alpha', 'bravo', 'charlie']);
    expect(await titles('?q=BRA')).to.deep.equal(['bravo']);
    expect(await titles('?q=cus_')).to.deep.equal(['alpha', 'charlie']);
    expect(await titles('?q=0%25')).to.deep.equal(['charlie']);
    expect(await titles('?q=nothing')).to.deep.equal([]);
    expect(await titles('?size=1&page=1')).to.deep.equal(['bravo']);
    expect(await page('?size=2')).to.include({ totalElements: 3, totalPages: 2, number: 0 });
    await other.get(`${wallets}?size=0`).expect(400);
    const [row] = (await page('?q=charlie')).content;
    expect(row).to.include({
      __type__: 'Wallet',
      Title: 'charlie',
      AccountId: account.body.id,
      CustomerId: 'cus_100%',
      IsActive: true,
      Balance: 0,
    });
    expect(row.ApprovalStatus__r).to.deep.equal({ Name: 'Approved' });
  });

  it('are shown as rows on request', async () => {
    const { body } = await tenant.post(wallets, wallet({ currency: 'USD' })).expect(201);
    const row = await tenant.get(`${pathOf(body)}?view=row`).expect(200);
    expect(row.body.data).to.include({ __type__: 'Wallet', Id: body.id, Title: body.title });
    expect(row.body.data.Currency__r).to.deep.equal({ Name: 'USD' });
    await tenant.get(`${pathOf(body)}?view=other`).expect(400);
  });

  // spec/resources.md R34
  it('keep their account from being deleted', async () => {
    const account = await tenant.post(`${external}/accounts`, { name: 'Owner' }).expect(201);
    const path = `${external}/accounts/${account.body.id as string}`;
    const { body } = await tenant.post(wallets, wallet({ accountId: account.body.id })).expect(201);
    const refused = await tenant.delete(path).expect(409);
    expect(refused.body.message).to.include(body.title);
    await tenant.delete(pathOf(body)).expect(204);
    await tenant.delete(path).expect(204);
  });
});
