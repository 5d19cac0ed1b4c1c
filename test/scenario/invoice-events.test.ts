import { expect } from 'chai';
import type { BilledInvoice } from '../support/billing/billing-run.js';
import { external } from '../support/servers/instance.js';
import { openReceiver, verify } from '../support/servers/receiver.js';
import { usage } from '../support/billing/usage.js';
import { useStory } from '../support/story/story.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const events = ['invoice.paid', 'invoice.voided', 'invoice.overdue', 'payment.applied'];

interface Told {
  readonly event: string;
  readonly data: BilledInvoice & {
    readonly dueStatus: string;
    readonly voidReason: string | null;
    readonly invoices?: readonly { readonly invoiceId: string; readonly amount: number }[];
  };
}

describe('what webhooks are told of invoices', () => {
  const story = useStory({ startsOn: '2026-04-01T08:00:00Z', overdueMs: 50 });
  const { instance, tenant } = story;

  it('a payment that a void set free, when it pays what replaces the void one', async () => {
    const other = story.as(await instance.tenant());
    const receiver = await openReceiver();
    const serviceId = await other.service('Calls');
    const accountId = await other.account('acme');
    await other.send(usage('acme', serviceId));
    const { run } = await other.bill('2026-03');
    const payment = await other.pay(accountId, 1);
    await other.tenant.post('/v1/webhooks', { url: receiver.url, events, secret }).expect(201);
    await other.voidInvoice(run.invoiceIds[0]);
    const again = await other.bill('2026-03');
    const received = await receiver.until(({ length }) => length >= 3);
    await receiver.close();
    const told = received.map(({ payload }) => payload as unknown as Told);
    expect(told.map(({ event, data }) => [event, data.id])).to.have.deep.members([
      ['invoice.voided', run.invoiceIds[0]],
      ['payment.applied', payment.id],
      ['invoice.paid', again.run.invoiceIds[0]],
    ]);
  });

  it('payments that are applied, and what is paid, void and overdue, each once', async () => {
    const receiver = await openReceiver();
    await tenant.post('/v1/webhooks', { url: receiver.url, events, secret }).expect(201);
    const serviceId = await story.service('Calls');
    const accounts: string[] = [];
    const names = ['pays', 'void', 'late'];
    for (const name of names) accounts.push(await story.account(name, { netTerm: 'Net 7' }));
    await story.send(...names.map((name) => usage(name, serviceId)));
    await story.bill('2026-03');
    const { body: list } = await tenant.get(`${external}/invoices`).expect(200);
    const idOf = (accountName: string): string =>
      list.data.content.find((row: { AccountName: string }) => row.AccountName === accountName).Id;
    const rows = list.data.content.map((row: { Total: number; DueStatus: string }) => [
      row.Total,
      row.DueStatus,
    ]);
    // 100 x 0.01 each.
    expect(rows).to.deep.equal(Array(3).fill([1, 'Not Due']));
    const pay = (amount: number) => story.pay(accounts[0], amount);
    const first = await pay(0.4);
    const second = await pay(0.7);
    await story.voidInvoice(idOf('void'), 'not theirs');
    // Due on 8 April: overdue on the 9th, and never told of again.
    story.travelTo('2026-04-08T23:59:59Z');
    const before = await tenant.get(`${external}/invoices/${idOf('late')}`).expect(200);
    expect(before.body).to.include({ dueDate: '2026-04-08', dueStatus: 'Not Due' });
    story.travelTo('2026-04-09T00:00:00Z');
    await receiver.until(({ length }) => length >= 5);
    story.travelTo('2026-04-10T00:00:00Z');
    await pay(0.1);
    const received = await receiver.until(({ length }) => length >= 5);
    await receiver.close();
    for (const delivery of received) verify(secret, delivery);
    const told = received.map(({ payload }) => payload as unknown as Told);
    const inShort = told.map(({ event, data }) => [event, data.id, data.dueStatus ?? null]);
    expect(inShort).to.have.deep.members([
      ['payment.applied', first.id, null],
      ['payment.applied', second.id, null],
      ['invoice.paid', idOf('pays'), 'Settled'],
      ['invoice.voided', idOf('void'), 'Settled'],
      ['invoice.overdue', idOf('late'), 'Overdue'],
    ]);
    const applied = told.find(({ data }) => data.id === second.id);
    expect(applied?.data.invoices).to.have.length(1);
    expect(applied?.data.invoices?.[0]).to.include({ invoiceId: idOf('pays'), amount: 0.6 });
    expect(told.find(({ event }) => event === 'invoice.voided')?.data.voidReason).to.equal(
      'not theirs',
    );
  });
});
