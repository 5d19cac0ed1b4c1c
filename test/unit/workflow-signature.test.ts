import { expect } from 'chai';
import { workflowSigner } from '../../src/platform/temporal/workflow-signature.js';

const key = (byte: number): Buffer => Buffer.alloc(32, byte);
const signerOf = (secret: Buffer, previousSecrets: readonly Buffer[] = [], namespace = 'n') =>
  workflowSigner({ secret, previousSecrets, namespace });
const run = {
  executionId: 'e',
  tenantId: 't',
  orgId: 'o',
  actor: 'a',
  requestId: 'r',
  input: { amount: 1, list: [{ b: 2, a: null }], left: undefined },
};
const payment = { type: 'savePayment', workflowId: 't/payment/1', input: run };

describe('the signature of a workflow', () => {
  const signer = signerOf(key(1));
  let signature: string;
  before(async () => {
    signature = await signer.sign(payment);
  });
  /** As its activities are given it. */
  const known = { ...payment, input: JSON.parse(JSON.stringify(run)) as typeof run };
  const listed = {
    type: payment.type,
    workflowId: payment.workflowId,
    tenantId: 't',
    actor: 'a',
    executionId: 'e',
  };

  it('holds for what Temporal gives back of its input, whatever the order of its keys', async () => {
    const input = { list: [{ a: null, b: 2 }], amount: 1 };
    const turned = Object.fromEntries(Object.entries({ ...run, input }).reverse());
    expect(await signer.isSigned({ ...payment, input: turned }, signature)).to.equal(true);
    expect(await signer.isSigned(known, signature)).to.equal(true);
    expect(signer.isListedSigned(listed, signature)).to.equal(true);
  });

  const given = known.input;
  const others: readonly (readonly [string, object])[] = [
    ['tenant', { input: { ...given, tenantId: 'u' } }],
    ['actor', { input: { ...given, actor: 'ceo' } }],
    ['organization', { input: { ...given, orgId: null } }],
    ['request', { input: { ...given, requestId: 'x' } }],
    ['execution', { input: { ...given, executionId: 'f' } }],
    ['input', { input: { ...given, input: { amount: 2 } } }],
    ['workflow', { type: 'deletePayment' }],
    ['workflow id', { workflowId: 't/payment/2' }],
  ];
  for (const [what, change] of others) {
    it(`does not hold for another ${what}`, async () => {
      expect(await signer.isSigned({ ...known, ...change }, signature)).to.equal(false);
    });
  }
  for (const [what, change] of Object.entries({
    tenant: { tenantId: 'u' },
    actor: { actor: 'ceo' },
    execution: { executionId: 'f' },
    'workflow id': { workflowId: 't/payment/2' },
  })) {
    it(`does not hold in a list for another ${what}`, () => {
      expect(signer.isListedSigned({ ...listed, ...change }, signature)).to.equal(false);
    });
  }

  it('does not hold in another namespace, under another key, or when it is none', async () => {
    expect(await signerOf(key(1), [], 'm').isSigned(known, signature)).to.equal(false);
    expect(await signerOf(key(2)).isSigned(known, signature)).to.equal(false);
    for (const none of [undefined, null, '', '.', 'x.y', 7, {}]) {
      expect(await signer.isSigned(known, none)).to.equal(false);
    }
  });

  it('of a key that is being replaced still holds, and new ones are made with the first', async () => {
    const both = signerOf(key(2), [key(1)]);
    expect(await both.isSigned(known, signature)).to.equal(true);
    expect(await both.sign(payment)).to.equal(await signerOf(key(2)).sign(payment));
  });

  it('of a schedule holds for whatever it starts, and for no other tenant', async () => {
    const input = { tenantId: 't', every: 'Monthly' };
    const scheduled = { type: 'scheduleBilling', workflowId: 't/billing-schedule', input };
    const made = await signer.sign(scheduled);
    const at = (workflowId: string) => signer.isSigned({ ...scheduled, workflowId }, made);
    expect(await at('t/billing-schedule-2026-11-01T03:00:00Z')).to.equal(true);
    expect(await at('u/billing-schedule-2026-11-01T03:00:00Z')).to.equal(false);
    expect(await at('t/billing-schedule/other')).to.equal(false);
    const other = { ...scheduled, input: { ...input, every: 'Weekly' } };
    expect(await signer.isSigned(other, made)).to.equal(false);
  });

  it('holds for a retry, and for a delivery, as they go on', async () => {
    const retry = { tenantId: 't', actor: 'a', filter: { code: 'X' } };
    const of = { type: 'retryUsage', workflowId: 't/usage-retry/1' };
    const made = await signer.sign({ ...of, input: retry });
    const page = { ...retry, until: '2026-01-01T00:00:00Z', afterId: 'e' };
    expect(await signer.isSigned({ ...of, input: page }, made)).to.equal(true);
    const wider = { ...page, filter: {} };
    expect(await signer.isSigned({ ...of, input: wider }, made)).to.equal(false);
  });

  it('is refused for an input that names nobody', async () => {
    const refused = await signer.sign({ ...payment, input: {} }).catch(String);
    expect(refused).to.include('cannot be signed');
  });

  it('may be missing until a stated instant', () => {
    const until = (ms: number) =>
      workflowSigner({
        secret: key(1),
        previousSecrets: [],
        namespace: 'n',
        unsignedUntil: new Date(Date.now() + ms),
      }).acceptsUnsigned();
    expect([signer.acceptsUnsigned(), until(60_000), until(-1)]).to.deep.equal([
      false,
      true,
      false,
    ]);
  });
});
