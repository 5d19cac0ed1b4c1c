import { expect } from 'chai';
import type { Knex } from 'knex';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { writeBehind } from '../../src/models/db/write-behind.js';
import { databaseErrorOf } from '../../src/kernel/sql-state.js';
import { external } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

describe('a transaction that ends with a statement whose answer is not waited for', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const transaction = <T>(work: (trx: Knex.Transaction) => Promise<T>) =>
    tenant.scope.db.transaction(work);
  let id: string;
  beforeEach(async () => {
    id = (await tenant.post(`${external}/accounts`, { name: 'before' }).expect(201)).body.id;
  });

  const rename = (trx: Knex, name: string) =>
    trx.raw('update account set name = ? where id = ?', [name, id]);
  const renameBehind = (trx: Knex.Transaction, name: string) =>
    writeBehind(trx, 'test of an end', 'update account set name = $1 where id = $2', [name, id]);
  const failBehind = (trx: Knex.Transaction, state: string) =>
    writeBehind(
      trx,
      '',
      `do $$ begin raise 'meant to fail' using errcode = '${state}'; end $$`,
      [],
    );
  const names = (db: Knex) =>
    sqlRows<{ name: string }>(db, 'select name from account where id = ?', [id]);
  const errorOf = (doing: Promise<unknown>): Promise<{ code?: string; message?: string }> =>
    doing.then(
      () => ({}),
      (error: unknown) => databaseErrorOf(error),
    );

  it('is committed with it', async () => {
    expect(
      await transaction(async (trx) => {
        await rename(trx, 'first');
        await renameBehind(trx, 'last');
        return 'done';
      }),
    ).to.equal('done');
    expect(await names(tenant.scope.db.read)).to.deep.equal([{ name: 'last' }]);
  });

  it('sees it in what comes before the commit', async () => {
    const seen = await transaction(async (trx) => {
      await renameBehind(trx, 'last');
      return names(trx);
    });
    expect(seen).to.deep.equal([{ name: 'last' }]);
  });

  it('fails with its error, and nothing of it is done', async () => {
    const failing = transaction(async (trx) => {
      await rename(trx, 'first');
      await failBehind(trx, '23514');
      return 'done';
    });
    expect(await errorOf(failing)).to.deep.include({ code: '23514', message: 'meant to fail' });
    expect(await names(tenant.scope.db.read)).to.deep.equal([{ name: 'before' }]);
  });

  it('fails with its error where others come behind it, of which nobody hears', async () => {
    const failing = transaction(async (trx) => {
      await failBehind(trx, '23514');
      await rename(trx, 'last').catch(() => undefined);
    });
    expect(await errorOf(failing)).to.include({ code: '23514' });
  });

  it('is repeated after a deadlock of it', async () => {
    let attempts = 0;
    await transaction(async (trx) => {
      attempts += 1;
      await rename(trx, `attempt ${attempts}`);
      if (attempts === 1) await failBehind(trx, '40P01');
    });
    expect(attempts).to.equal(2);
    expect(await names(tenant.scope.db.read)).to.deep.equal([{ name: 'attempt 2' }]);
  });

  it('is rolled back with the error of its work, whether or not it fails, too', async () => {
    for (const write of [renameBehind, failBehind]) {
      const failing = transaction(async (trx) => {
        await write(trx, '23514');
        throw new Error('the work fails');
      });
      expect(await errorOf(failing)).to.include({ message: 'the work fails' });
    }
    expect(await names(tenant.scope.db.read)).to.deep.equal([{ name: 'before' }]);
    expect(await transaction(names)).to.deep.equal([{ name: 'before' }]);
  });

  it('fails where the connection is lost before the answer', async () => {
    const failing = transaction(async (trx) => {
      await rename(trx, 'first');
      const [session] = await sqlRows<{ pid: number }>(trx, 'select pg_backend_pid() as pid');
      await writeBehind(trx, '', 'select pg_sleep(60)', []);
      await asOwner(instance.databaseUrl, (owner) =>
        owner.query('select pg_terminate_backend($1)', [session?.pid]),
      );
    });
    expect(await errorOf(failing)).to.include({ code: '57P01' });
    expect(await names(tenant.scope.db.read)).to.deep.equal([{ name: 'before' }]);
  });
});
