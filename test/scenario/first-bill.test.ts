import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { demoAccount, demoContract, demoService } from '../../src/cli/demo/demo-catalog.js';
import { sendUsageFile } from '../../src/cli/usage/usage-sender.js';
import { external } from '../support/servers/instance.js';
import { waitUntilRated } from '../support/billing/usage.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const path = new URL('../../examples/usage.csv', import.meta.url).pathname;

/**
 * October, exception price: 0 to 1,000 free, to 10,000 at 0.0015, above at 0.001; times `priority`.
 * The counter starts anew on 1 November.
 */
const expected: readonly (readonly [id: string, amount: string, arithmetic: string])[] = [
  ['demo-0001', '0', '400 of the free 1,000'],
  ['demo-0002', '0', '900 of the free 1,000'],
  ['demo-0003', '0.3', '100 free, 200 x 0.0015'],
  ['demo-0004', '6', '4,000 x 0.0015'],
  ['demo-0005', '12.6', '(4,800 x 0.0015 + 1,200 x 0.001) x 1.5'],
  ['demo-0006', '2.5', '2,500 x 0.001'],
  ['demo-0007', '3.6', '1,800 x 0.001 x 2'],
  ['demo-0008', '1', '1,000 x 0.001'],
  ['demo-0009', '0', '900 of the free 1,000 of November'],
  ['demo-0010', '0.75', '100 free, 500 x 0.0015'],
  ['demo-0011', '0.375', '250 x 0.0015'],
  ['demo-0012', '12.625', '8,250 x 0.0015 + 250 x 0.001'],
];

describe('a first bill', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  let serviceId: string;

  const send = (afterLine = 0) =>
    sendUsageFile({
      apiUrl: instance.url,
      token: tenant.token,
      path,
      afterLine,
      defaults: { serviceId },
      onProgress: () => undefined,
      onFault: (line, fault) => expect.fail(`line ${line}: ${fault}`),
      onWaiting: (reason) => expect.fail(reason),
      onNotice: (notice) => expect.fail(notice),
    });

  before(async () => {
    const { body: account } = await tenant.post(`${external}/accounts`, demoAccount).expect(201);
    const { body: service } = await tenant.post(`${external}/services`, demoService).expect(201);
    serviceId = service.id;
    await tenant.post(`${external}/contracts`, demoContract(account.id, serviceId)).expect(201);
  });

  it('sends the example file: 12 events are rated, 1 is a repeat, 1 is rejected', async () => {
    const lines = (await readFile(path, 'utf8')).trim().split('\n');
    const sent = await send();
    expect(sent).to.deep.include({ accepted: lines.length - 1, refused: 0 });
    const summary = await waitUntilRated(tenant, sent.accepted);
    expect(summary).to.include({ accepted: 14, rated: 12, duplicate: 1, rejected: 1, pending: 0 });
  });

  for (const [id, amount, arithmetic] of expected) {
    it(`rates ${id} to ${amount}: ${arithmetic}`, async () => {
      const { body } = await tenant.get(`/v1/usage-events/${id}`).expect(200);
      expect(body.status).to.equal('rated');
      expect(body.ratedTransactions).to.have.length(1);
      expect(String(body.ratedTransactions[0].amount)).to.equal(amount);
    });
  }

  it('explains the charge that crosses a tier: its tiers and steps add up', async () => {
    const { body } = await tenant.get('/v1/usage-events/demo-0005').expect(200);
    const { explanation } = body.ratedTransactions[0];
    const [row] = explanation.rows;
    expect(row.counter).to.include({ before: '5200', after: '11200', frequency: 'Monthly' });
    expect(
      row.tiers.map((tier: Record<string, string>) => [tier['volume'], tier['amount']]),
    ).to.deep.equal([
      ['4800', '7.2'],
      ['1200', '1.2'],
    ]);
    expect(row.amount).to.equal('8.4');
    expect(explanation.steps.map((step: { value: string }) => step.value)).to.deep.equal([
      '8.4',
      '12.6',
    ]);
    expect(explanation.card).to.include({ source: 'exception', versionNo: 1 });
  });

  it('keeps the event that cannot be rated, with its reason', async () => {
    const { body } = await tenant.get('/v1/usage-events?status=rejected').expect(200);
    expect(body.data).to.have.length(1);
    expect(body.data[0]).to.include({
      externalTransactionId: 'demo-0013',
      code: 'INVALID_DIMENSION',
    });
  });

  it('changes nothing when the file is sent again, and goes on after a line', async () => {
    const sent = await send(5);
    expect(sent.accepted).to.equal(10);
    const summary = await waitUntilRated(tenant, 24);
    expect(summary).to.include({ accepted: 24, rated: 12, rejected: 1, pending: 0 });
    const { body } = await tenant.get(`${external}/rated-transactions`).expect(200);
    expect(body.data.totalElements).to.equal(12);
  });
});
