import { expect } from 'chai';
import { createAccount } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What its operation declares: what of it the tests need, they know. */
type Body = ReturnType<typeof JSON.parse>;

/** 25 digits: a double has 1234567890123.1235 of them. */
const amount = '1234567890123.123456789012';

describe("tenants' workflows: amounts", () => {
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);
  let count = 0;

  const named = (name: string) => ({ dsl: '1.0.0', namespace: 'test', name, version: '1.0.0' });
  /** Publishes and executes it; `AMOUNT` in the texts of JSON is the number. */
  const run = async (tasks: object[], data = '{}', more: object = {}): Promise<Body> => {
    count += 1;
    const name = `amount-${count}`;
    const text = JSON.stringify({ definition: { document: named(name), do: tasks, ...more } });
    await tenant.post('/v1/workflows', text.replaceAll('"AMOUNT"', amount)).expect(201);
    const asked = `{"data":${data.replaceAll('"AMOUNT"', amount)}}`;
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
});
