import { expect } from 'chai';
import { createAccount } from '../support/billing/usage.js';
import { openServer } from '../support/servers/elsewhere.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

/** 25 digits: a double has 1234567890123.1235 of them. */
const amount = '1234567890123.123456789012';

describe("tenants' workflows: amounts", () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let count = 0;

  const named = (name: string) => ({ dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' });
  const numbersIn = (text: string): string =>
    text.replaceAll('"AMOUNT"', amount).replace(/"#([^"]+)"/g, '$1');
  /** Publishes and executes it; `AMOUNT` in the texts of JSON is the number, and `#5` is 5. */
  const run = async (tasks: object[], data = '{}', more: object = {}): Promise<Body> => {
    count += 1;
    const name = `amount-${count}`;
    const text = JSON.stringify({ definition: { document: named(name), do: tasks, ...more } });
    await tenant.post('/v1/workflows', numbersIn(text)).expect(201);
    const asked = `{"data":${numbersIn(data)}}`;
    return (await tenant.post(`/v1/workflows/${name}/execute`, asked).expect(200)).body;
  };
  const contract = (accountId: string, totalPrice: string): object => ({
    call: 'durabill.operation',
    with: {
      operationId: 'createContract',
      body: { masterAccountId: accountId, totalPrice },
    },
  });
  const priceOf = async (id: string): Promise<string | undefined> => {
    const { text } = await tenant.get(`${external}/contracts/${id}`).expect(200);
    return /"totalPrice":([^,]+),/.exec(text)?.[1];
  };

  // spec/beyond.md R417
  it('are in an operation what the definition says, to the last digit', async () => {
    const id = await createAccount(tenant, 'written');
    const done = await run([{ make: contract(id, 'AMOUNT') }]);
    expect(done.error).to.equal(null);
    expect(await priceOf(done.output.id)).to.equal(amount);
  });

  // spec/beyond.md R417
  it('are in an operation and in a flow what the input says, and what another task gave', async () => {
    const id = await createAccount(tenant, 'given');
    const flow = (price: string): object => ({
      call: 'durabill.contract-create',
      with: { name: '${ input.name }', master_account_id: id, total_price: price },
    });
    const tasks = [
      { make: contract(id, '${ input.amount }') },
      { keep: { set: { name: 'Second', price: '${ input.totalPrice }' } } },
      { flow: flow('${ input.price }') },
    ];
    const document = { type: 'object', properties: { amount: { type: 'number', minimum: 1 } } };
    const schema = { schema: { format: 'json', document } };
    const done = await run(tasks, '{"amount":"AMOUNT"}', { input: schema });
    expect(done.error).to.equal(null);
    expect(await priceOf(done.output.id)).to.equal(amount);
  });

  // spec/beyond.md R417
  it('are no other texts', async () => {
    const id = await createAccount(tenant, 'other');
    for (const text of ['many', '', '0x10', 'Infinity', '1e5', ' 5']) {
      const { error } = await run(
        [{ make: contract(id, '${ input.amount }') }],
        JSON.stringify({ amount: text }),
      );
      expect(error, text).to.include({ code: 'VALIDATION_ERROR' });
      expect(error.message, text).to.equal("/do/0/make: 'totalPrice' must be a number");
    }
  });

  // spec/beyond.md R417
  it('are numbers where a double holds them, however many digits they have', async () => {
    const server = await openServer();
    server.answer = (_asked, response) => response.writeHead(200).end('{"at": 0.8571428571428571}');
    const body = {
      written: '#0.8571428571428571',
      given: '${ input.most }',
      kept: '${ context.pi * 2.0 }',
      more: '#9007199254740993',
    };
    const done = await run(
      [
        { keep: { set: { pi: '#3.141592653589793' }, export: { as: '${ output }' } } },
        {
          send: {
            call: 'http',
            input: { from: '${ workflow.input }' },
            with: { method: 'POST', endpoint: server.url, body },
          },
        },
        { last: { set: { half: '${ input.at / 2.0 }' } } },
      ],
      '{"most":"#9007199254740991"}',
    );
    server.close();
    expect(done.error).to.equal(null);
    expect(server.asked.map((asked) => asked.body)).to.deep.equal([
      '{"written":0.8571428571428571,"given":9007199254740991,"kept":6.283185307179586,"more":"9007199254740993"}',
    ]);
    expect(done.output).to.deep.equal({ half: 0.42857142857142855 });
  });

  // spec/beyond.md R417
  it('are what they are in a batch of a flow, too', async () => {
    const id = await createAccount(tenant, 'batch');
    const data = ['AMOUNT', 'many'].map((price, index) => ({
      name: `Batch ${index}`,
      master_account_id: id,
      total_price: price,
    }));
    const done = await run([
      {
        make: {
          call: 'durabill.operation',
          with: { operationId: 'runCreateContractBatch', body: { data } },
        },
      },
    ]);
    expect(done.error).to.equal(null);
    const [made, refused] = done.output.data;
    expect(await priceOf(made.output.id)).to.equal(amount);
    expect(refused.error.message).to.equal("'total_price' must be a number");
  });

  // spec/beyond.md R417
  it('are numbers in fields of records that are numbers, and texts in others', async () => {
    const fields = [
      { name: 'size', type: 'number' },
      { name: 'label', type: 'string' },
    ];
    await tenant.post('/v1/mobjects', { name: 'exact', fields }).expect(201);
    const call = (operationId: string, data: unknown, more: object = {}): object => ({
      call: 'durabill.operation',
      with: { operationId, parameters: { mobjectId: 'exact', ...more }, body: { data } },
    });
    const given = { size: 'AMOUNT', label: 'AMOUNT' };
    const done = await run([
      { one: call('createRecord', { size: 1 }) },
      { change: call('updateRecord', given, { mdataId: '${ input.id }' }) },
      { more: call('createRecords', [given, { size: '5' }]) },
    ]);
    expect(done.error).to.equal(null);
    expect(done.output).to.include({ created: 1, failed: 1 });
    expect(done.output.data[1].error.message).to.equal("'size' must be a number");
    const { text } = await tenant.get('/v1/mobjects/exact/mdata').expect(200);
    const data = [...text.matchAll(/"data":(\{"(?:size|label)[^}]*\})/g)].map(([, one]) => one);
    const kept = `{"size":${amount},"label":"${amount}"}`;
    expect(data).to.deep.equal([kept, kept]);
  });

  // spec/beyond.md R417
  it('of an input schema are the same wherever it is checked', async () => {
    const document = { type: 'object', properties: { n: { enum: ['#1e3'] } } };
    const schema = { schema: { format: 'json', document } };
    const tasks = [{ keep: { set: { n: '${ input.n }' } } }];
    const done = await run(tasks, '{"n":1000}', { input: schema });
    expect(done.output).to.deep.equal({ n: 1000 });
    const path = `/v1/workflows/amount-${count}`;
    const { body: dry } = await tenant.post(`${path}/simulate`, { input: { n: 1000 } }).expect(200);
    expect(dry.output).to.deep.equal({ n: 1000 });
  });

  // spec/beyond.md R417
  it('are shown in a definition with every digit that was written', async () => {
    await run([{ keep: { set: { n: 'AMOUNT' } } }]);
    const { text } = await tenant.get(`/v1/workflows/amount-${count}`).expect(200);
    expect(text).to.include(`"set":{"n":${amount}}`);
  });
});
