import { expect } from 'chai';
import { flowList } from '../../src/schemas/flows/index.js';
import { makeAccount } from '../support/billing/accounts.js';
import { storeInvoice } from '../support/billing/invoices.js';
import { prepareRecords, rowsOf, starts } from '../support/billing/flow-starts.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const path = `${external}/run/billing/payment/create/batch`;

const payment = (reference: string, rest: object = {}) => ({
  account_id: 'payer',
  amount: 12.5,
  currency_id: 'USD',
  payment_date: '2026-04-30',
  payment_method: 'Cash',
  payment_reference: reference,
  ...rest,
});

describe('a flow for many start nodes at once', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance, { forEachTest: true });
  let payerId = '';
  beforeEach(async () => {
    payerId = (await makeAccount(tenant, { name: 'Payer', externalId: 'payer' })).id;
  });

  const countPayments = async (): Promise<number> =>
    (await tenant.get(`${external}/payments`).expect(200)).body.data.totalElements;

  // spec/flows.md R39
  it('carries out the good ones, and answers each bad one in its place as if it were alone', async () => {
    const data = [
      payment('P-0'),
      payment('P-1', { amount: -1 }),
      payment('P-2', { account_id: 'nobody' }),
      payment('P-0'),
      payment('P-4'),
      ['no start node'],
    ];
    const { body } = await tenant.post(path, { data }).expect(200);
    expect(body).to.include({ success: false, totalProcessed: 6, completed: 2, failed: 4 });
    const [first, negative, unknown, twice, last, text] = body.data;
    expect(first.output).to.include({ paymentReference: 'P-0', amount: 12.5 });
    expect(last.output).to.include({ paymentReference: 'P-4', amount: 12.5 });
    expect(negative).to.deep.include({ index: 1 });
    for (const [item, start, status] of [
      [negative, data[1], 400],
      [unknown, data[2], 400],
      [twice, data[3], 409],
      [text, data[5], 400],
    ] as const) {
      const alone = await tenant.post(path.replace('/batch', ''), start as object).expect(status);
      const { flowExecutionId: ours, ...error } = item.error;
      const { flowExecutionId: theirs, ...expected } = alone.body;
      expect(error).to.deep.equal(expected);
      expect(typeof ours).to.equal(typeof theirs);
    }
    expect(await countPayments()).to.equal(2);
  });

  // spec/flows.md R40
  it('gives each an execution of its own, and shows the batch as one', async () => {
    const data = [payment('A'), payment('A'), payment('B')];
    const { body } = await tenant.post(path, { data }).expect(200);
    const executions = '/v1/workflows/payment-save/executions';
    const [a, again, b] = body.data;
    const read = async (id: string) => (await tenant.get(`${executions}/${id}`).expect(200)).body;
    const done = await read(a.flowExecutionId);
    expect(done).to.deep.include({ status: 'completed', output: a.output, input: data[0] });
    expect(await read(again.error.flowExecutionId)).to.deep.include({ status: 'failed' });
    const { body: listed } = await tenant.get(executions).expect(200);
    expect(listed.pagination.total).to.equal(3);
    const { body: batches } = await tenant.get('/v1/workflows/flow-batch/executions').expect(200);
    expect(batches.data).to.have.length(1);
    expect(batches.data[0]).to.deep.include({
      status: 'completed',
      output: { completed: 2, failed: 1 },
    });
    // Temporal knows the batch alone.
    const { temporalUrl } = await read(b.flowExecutionId);
    expect(temporalUrl).to.equal(batches.data[0].temporalUrl);
  });

  // spec/flows.md R39
  it('carries them out in their order', async () => {
    const data = Array.from({ length: 120 }, (_each, index) => ({
      id: payerId,
      name: `Name ${index}`,
    }));
    const { body } = await tenant
      .post(`${external}/run/billing/account/edit/batch`, { data })
      .expect(200);
    expect(body).to.include({ success: true, completed: 120 });
    const names = body.data.map(({ output }: { output: { name: string } }) => output.name);
    expect(names).to.deep.equal(data.map(({ name }) => name));
    const { body: after } = await tenant.get(`${external}/accounts/${payerId}`).expect(200);
    expect(JSON.stringify(after)).to.include('"Name 119"');
  });

  // spec/flows.md R39
  it('tells outputs up to 8 MiB, and records them a mebibyte at a time', async () => {
    const long = 'a'.repeat(200);
    const addresses = Array.from({ length: 1_000 }, () => ({
      line1: long,
      line2: long,
      city: long,
    }));
    const { id } = await makeAccount(tenant, { name: 'Long', addresses });
    const data = Array.from({ length: 14 }, () => ({ id, name: 'Long' }));
    const { body, text } = await tenant
      .post(`${external}/run/billing/account/edit/batch`, { data })
      .expect(200);
    expect(body).to.include({ success: true, completed: 14 });
    const mebibytes = text.length / 1024 ** 2;
    expect(mebibytes).to.be.within(8, 9);
    const told = body.data.findIndex(({ output }: { output: unknown }) => output === null);
    expect(told).to.be.within(9, 13);
    const last = body.data.at(-1);
    expect(last.output).to.equal(null);
    const execution = `/v1/workflows/account-edit/executions/${last.flowExecutionId}`;
    expect((await tenant.get(execution).expect(200)).body.output.addresses).to.have.length(1_000);
    const { rows } = await asOwner(instance.databaseUrl, (client) =>
      client.query<{ times: string }>(
        `select count(distinct xmin::text) as times from execution
         where tenant_id = $1 and workflow = 'editAccount'`,
        [tenant.id],
      ),
    );
    expect(Number(rows[0]?.times)).to.be.within(7, 14);
  });

  // spec/flows.md R39
  it('knows each account by id, external id and number, as an item alone does', async () => {
    const other = await makeAccount(tenant, { name: 'Other', externalId: 'Payer' });
    const numbered = await makeAccount(tenant, { name: 'Numbered', number: 'N-1' });
    const gone = await makeAccount(tenant, { name: 'Gone', externalId: 'gone' });
    await tenant.delete(`${external}/accounts/${gone.id}`).expect(204);
    const references = ['payer', 'Payer', 'N-1', payerId, payerId.toUpperCase(), 'gone', gone.id];
    const data = references.map((account_id, index) => payment(`K-${index}`, { account_id }));
    const { body } = await tenant.post(path, { data }).expect(200);
    const named = body.data.map((item: { output?: { accountId: string }; error?: object }) =>
      item.output === undefined ? item.error : item.output.accountId,
    );
    const none = (name: string) => `'account_id' names no account: '${name}'`;
    expect(named.slice(0, 5)).to.deep.equal([payerId, other.id, numbered.id, payerId, payerId]);
    expect(named.map(({ message }: { message?: string }) => message).slice(5)).to.deep.equal([
      none('gone'),
      none(gone.id),
    ]);
  });

  // spec/flows.md R39
  it('applies payments to open invoices in their order', async () => {
    const debtor = await makeAccount(tenant, { name: 'Debtor', externalId: 'debtor' });
    const invoice = { accountId: debtor.id, invoiceNo: 'I-1', amount: '100', balance: '100' };
    const invoiceId = await storeInvoice(tenant.scope, { invoice });
    const data = [
      payment('D-1', { account_id: 'debtor', amount: 60 }),
      payment('D-2', { amount: 7 }),
      payment('D-3', { account_id: 'debtor', amount: 60 }),
      payment('D-4', { account_id: 'debtor', amount: 5 }),
    ];
    const { body } = await tenant.post(path, { data }).expect(200);
    // 100 takes the 60 of D-1 and 40 of D-3, whose other 20 are left; D-4 comes too late.
    const left = body.data.map(({ output }: { output: Record<string, unknown> }) => [
      output['balance'],
      output['balanceStatus'],
    ]);
    expect(left).to.deep.equal([
      [0, 'Applied'],
      [7, 'Unapplied'],
      [20, 'Partially Applied'],
      [5, 'Unapplied'],
    ]);
    const { body: paid } = await tenant.get(`${external}/invoices/${invoiceId}`).expect(200);
    expect(paid).to.include({ balance: 0 });
  });

  // spec/flows.md R33
  it('has one effect and one answer under a key, and is another request with other nodes', async () => {
    const send = (data: object[]) => tenant.post(path, { data }).set('Idempotency-Key', 'once');
    const data = [payment('A'), payment('A'), payment('B', { amount: -1 })];
    const first = await send(data).expect(200);
    const again = await send(data).expect(200);
    expect(again.text).to.equal(first.text);
    expect(await countPayments()).to.equal(1);
    await send([payment('A')]).expect(409);
  });

  // spec/flows.md R39
  it('takes 1 to 1,000', async () => {
    for (const data of [[], Array.from({ length: 1_001 }, () => ({}))]) {
      const { body } = await tenant.post(path, { data }).expect(400);
      expect(body.message).to.include("'data'");
    }
    await tenant.post(path, { data: [payment('A')], draftMode: true }).expect(400);
    await tenant.post(`${path}?draftMode=true`, { data: [payment('A')] }).expect(400);
  });
});

describe('every flow in a batch', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });

  for (const [workflow, { slug }] of flowList) {
    // spec/flows.md R39
    it(`${slug} leaves the rows that it leaves alone`, async () => {
      const [alone, many] = [await instance.tenant(), await instance.tenant()];
      const run = `${external}/run/${slug}`;
      await alone.post(run, starts[workflow](await prepareRecords(alone))).expect(200);
      const data = [{ unknown: true }, starts[workflow](await prepareRecords(many))];
      const { body } = await many.post(`${run}/batch`, { data }).expect(200);
      expect(body, JSON.stringify(body.data)).to.include({ completed: 1, failed: 1 });
      const { databaseUrl } = instance;
      const records = async (id: string) =>
        (await rowsOf(id, databaseUrl)).filter((row) => !row.startsWith('execution'));
      expect(await records(many.id)).to.deep.equal(await records(alone.id));
    });
  }
});
