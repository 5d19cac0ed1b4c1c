import { expect } from 'chai';
import type { Knex } from 'knex';
import { parseRecords, prepareRecords, rateUsage } from '../../src/commands/usage/rate-usage.js';
import { newId } from '../../src/kernel/id.js';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { createAccount, createService, event, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

/** What is made ready of usage while the usage before it is rated (docs/decisions/0444). */
describe('usage that was prepared before it is rated', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let accountId: string;
  let serviceId: string;
  let offset = 0;
  before(async () => {
    accountId = await createAccount(tenant, 'acme');
    serviceId = await createService(tenant, 'Calls');
  });

  const countCharges = async (): Promise<number> => {
    const sql = 'select count(*)::integer from rated_transaction where tenant_id = ?';
    const [row] = await sqlRows<{ count: number }>(tenant.scope.db.read, sql, [tenant.id]);
    return row?.count ?? NaN;
  };
  /** Prepares 100 calls, does something else, and rates them; their amount, and how much was taken over. */
  const rate = async (name: string, work: () => Promise<unknown>) => {
    const message = usage('acme', serviceId, { externalTransactionId: name });
    const record = { offset, key: null, orgId: 'org', message: JSON.stringify(message) };
    const records = await parseRecords([{ ...record, receivedAt: new Date() }]);
    const ahead = await prepareRecords(tenant.scope, records);
    const [read] = records.flatMap(({ message: { read: of } }) => (of.ok ? [of.event] : []));
    if (!read) throw new Error('The message is no event.');
    const isPrepared = ahead.has(read);
    await work();
    let written = NaN;
    const writing: Promise<void>[] = [];
    const { tenantId, db } = tenant.scope;
    // What is counted while it is written is counted before the commit, however busy the machine is.
    const transaction = <T>(rating: (trx: Knex.Transaction) => Promise<T>) =>
      db.transaction(async (trx) => {
        const done = await rating(trx);
        await Promise.all(writing);
        return done;
      });
    const scope = { ...tenant.scope, db: { tenantId, read: db.read, transaction } };
    const { counts } = await rateUsage(scope, {
      partition: 0,
      from: offset,
      end: offset + 1,
      records,
      ahead,
      areKept: false,
      workflowId: 'test',
      runId: newId(),
      onFault: (error) => expect.fail(String(error)),
      onWriting: () => {
        const counting = countCharges().then((count) => {
          written = count;
        });
        writing.push(counting);
      },
    });
    // Said once of a transaction, when nothing of it can be seen.
    expect([writing.length, written]).to.deep.equal([1, offset]);
    expect(counts).to.deep.equal({ rated: 1, duplicate: 0, rejected: 0 });
    offset += 1;
    const [charge] = (await event(tenant, name)).ratedTransactions;
    const isTaken = isPrepared && !ahead.has(read);
    return { amount: charge.amount as number, isPrepared, isTaken, explained: charge.matches };
  };
  const changePrice = (unitRate: number) =>
    tenant
      .put(`${external}/services/${serviceId}/rate-cards/USD`, {
        currency: 'USD',
        rows: [
          { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate },
        ],
      })
      .expect(200);

  it('is rated as it would be without, and each event is taken over once', async () => {
    const nothing = () => Promise.resolve();
    // What is not compiled yet is left to the transaction.
    const first = { amount: 1, isPrepared: false, isTaken: false, explained: true };
    expect(await rate('first', nothing)).to.deep.equal(first);
    const second = { amount: 1, isPrepared: true, isTaken: true, explained: true };
    expect(await rate('second', nothing)).to.deep.equal(second);
  });

  it('is prepared anew where a price has changed since', async () => {
    expect(await rate('changed', () => changePrice(0.03))).to.deep.include({
      amount: 3,
      isPrepared: true,
      explained: true,
    });
  });

  it('is prepared anew where its account has a contract since', async () => {
    const line = {
      serviceId,
      rateCards: [
        {
          currency: 'USD',
          rows: [
            { priceDimName: 'api_calls', label: 'Own', priceMethod: 'QUANTITY', unitRate: 0.05 },
          ],
        },
      ],
    };
    const subscribe = () =>
      tenant
        .post(`${external}/contracts`, {
          masterAccountId: accountId,
          currency: 'USD',
          name: 'C',
          startDate: '2026-01-01',
          services: [line],
        })
        .expect(201);
    await rate('compiled', () => Promise.resolve());
    expect(await rate('contract', subscribe)).to.deep.include({
      amount: 5,
      isPrepared: true,
      explained: true,
    });
  });
});
