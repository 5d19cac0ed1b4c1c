import { expect } from 'chai';
import type { Knex } from 'knex';
import { Account } from '../../src/models/accounts/account.js';
import { readRecords } from '../../src/models/db/read-records.js';
import { databaseErrorOf } from '../../src/kernel/sql-state.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';

/** A statement that fails with this state. */
const failing = (state: string): string =>
  `do $$ begin raise exception 'meant to fail' using errcode = '${state}'; end $$`;

describe('a transaction whose statements are sent one behind the other', () => {
  let instance: TestInstance;
  let db: ReturnType<TestInstance['platform']['database']['forTenant']>;
  before(async () => {
    instance = await openTestInstance();
    const { scope } = await instance.tenant();
    ({ db } = scope);
  });
  after(() => instance.close());

  const failureOf = async (work: (trx: Knex.Transaction) => Promise<unknown>) => {
    const error: unknown = await db.transaction(work).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const { code, message } = databaseErrorOf(error);
    return { code, message };
  };
  /** Sends a statement that fails, and another behind it, whose answer alone is heard. */
  const failUnheard = async (trx: Knex.Transaction, state: string): Promise<void> => {
    const [, heard] = await Promise.allSettled([trx.raw(failing(state)), trx.raw('select 1')]);
    if (heard.status === 'rejected') throw heard.reason;
  };

  it('fails with its first error, whichever statement is told of it', async () => {
    const { code, message } = await failureOf((trx) => failUnheard(trx, '23505'));
    expect(code).to.equal('23505');
    expect(message).to.contain('meant to fail');
  });

  it('fails with it in whatever comes later, too', async () => {
    const { code } = await failureOf(async (trx) => {
      await trx.raw(failing('57014')).catch(() => undefined);
      await trx.raw('select 1');
    });
    expect(code).to.equal('57014');
  });

  it('is repeated after a deadlock that another statement was told of', async () => {
    let attempts = 0;
    await db.transaction(async (trx) => {
      attempts += 1;
      if (attempts === 1) await failUnheard(trx, '40P01');
    });
    expect(attempts).to.equal(2);
  });

  it('is not taken for committed where nobody heard of the error', async () => {
    const { code } = await failureOf((trx) => trx.raw(failing('23514')).catch(() => undefined));
    expect(code).to.equal('23514');
  });

  const wrong = `select id from account where tenant_id = $1 and 1 / 0 = 1`;

  it('is told of the first error where records are read behind it', async () => {
    const { code } = await failureOf(async (trx) => {
      const [, heard] = await Promise.allSettled([
        trx.raw(failing('40P01')),
        readRecords(Account, trx, 't', 'select id from account where tenant_id = $1'),
      ]);
      if (heard.status === 'rejected') throw heard.reason;
    });
    expect(code).to.equal('40P01');
  });

  it('is not taken for committed where nobody heard that records could not be read', async () => {
    const { code } = await failureOf((trx) =>
      readRecords(Account, trx, 't', wrong).catch(() => undefined),
    );
    expect(code).to.equal('22012');
  });

  it('goes on after a savepoint, and says nothing of what was undone', async () => {
    const { code } = await failureOf(async (trx) => {
      await trx.transaction((inner) => inner.raw(failing('23505'))).catch(() => undefined);
      await trx.raw('select 1');
      await trx.raw(failing('22003'));
    });
    expect(code).to.equal('22003');
    await db.transaction((trx) =>
      trx.transaction((inner) => inner.raw(failing('23505'))).catch(() => undefined),
    );
  });
});
