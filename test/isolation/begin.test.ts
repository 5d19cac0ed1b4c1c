import { expect } from 'chai';
import type { Knex } from 'knex';
import { sqlRows } from '../../src/models/db/sql-rows.js';
import { writeBehind } from '../../src/models/db/write-behind.js';
import { databaseErrorOf } from '../../src/kernel/sql-state.js';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

describe('a transaction', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const transaction = <T>(work: (trx: Knex.Transaction) => Promise<T>) =>
    tenant.scope.db.transaction(work);
  const codeOf = (doing: Promise<unknown>): Promise<string | undefined> =>
    doing.then(
      () => 'none',
      (error: unknown) => databaseErrorOf(error).code,
    );
  /** What the session that a statement goes to says of whom it works for, and of its transaction. */
  const where = (trx: Knex) =>
    sqlRows<{ tenant: string; transaction: string }>(
      trx,
      `select current_setting('app.tenant_id', true) as tenant, pg_current_xact_id()::text as transaction`,
    ).then(([row]) => row);
  const refusing = `do $$ begin raise exception 'no' using errcode = '23514'; end $$`;

  it('begins with its first statement, and all of its statements are in it', async () => {
    const found = await transaction(async (trx) => [await where(trx), await where(trx)]);
    expect(found[0]).to.deep.equal(found[1]);
    expect(found[0]?.tenant).to.equal(tenant.id);
  });

  it('has statements in it that are sent at once with the first', async () => {
    const found = await transaction((trx) =>
      Promise.all(Array.from({ length: 5 }, () => where(trx))),
    );
    expect(new Set(found.map((row) => row?.transaction)).size).to.equal(1);
    expect(new Set(found.map((row) => row?.tenant))).to.deep.equal(new Set([tenant.id]));
  });

  it('may be without statements, after one that has failed, too', async () => {
    expect(await codeOf(sqlRows(tenant.scope.db.read, 'select 1 / 0'))).to.equal('22012');
    expect(await transaction(() => Promise.resolve('nothing'))).to.equal('nothing');
    const thrown = transaction(() => Promise.reject(new Error('ours')));
    expect(await thrown.catch((error: unknown) => (error as Error).message)).to.equal('ours');
  });

  it('may begin with one within it, which can be taken back alone', async () => {
    const inserting = `insert into setting_of_test values (1)`;
    await transaction(async (trx) => {
      await trx.raw('create temporary table setting_of_test (n integer) on commit drop');
      await trx.transaction((inner) => inner.raw(inserting));
      const inner = trx.transaction(async (nested) => {
        await nested.raw(inserting);
        await nested.raw(refusing);
      });
      expect(await codeOf(inner)).to.equal('23514');
      expect(await sqlRows(trx, 'select n from setting_of_test')).to.deep.equal([{ n: 1 }]);
    });
    const first = transaction((trx) => trx.transaction((inner) => where(inner)));
    expect((await first)?.tenant).to.equal(tenant.id);
  });

  it('leaves nothing of itself to the next one where its first statement fails', async () => {
    expect(await codeOf(transaction((trx) => trx.raw(refusing)))).to.equal('23514');
    expect((await transaction(where))?.tenant).to.equal(tenant.id);
    expect((await where(tenant.scope.db.read))?.tenant).to.equal(tenant.id);
  });

  describe('that ends with a statement whose answer is not waited for', () => {
    it('is committed with it', async () => {
      const found = await transaction(async (trx) => {
        await trx.raw('create temporary table ended_of_test (n integer) on commit drop');
        await writeBehind(trx, 'test of an end', 'insert into ended_of_test values ($1)', [7]);
        return sqlRows(trx, 'select n from ended_of_test');
      });
      expect(found).to.deep.equal([{ n: 7 }]);
    });

    it('fails with its error, and nothing of it is done', async () => {
      const { body } = await tenant.post(`${external}/accounts`, { name: 'before' }).expect(201);
      const names = (db: Knex) =>
        sqlRows<{ name: string }>(db, 'select name from account where id = ?', [body.id]);
      const failing = transaction(async (trx) => {
        await trx.raw(`update account set name = 'after' where id = ?`, [body.id]);
        await writeBehind(trx, 'test of a failed end', 'select 1 / $1::integer', [0]);
        return names(trx).catch(() => 'committed');
      });
      expect(await codeOf(failing)).to.equal('22012');
      expect(await names(tenant.scope.db.read)).to.deep.equal([{ name: 'before' }]);
    });
  });

  it('that cannot be entered sends nothing as if there was one', async () => {
    const nobody = instance.platform.database.forTenant('no\0body', { actor: 'test', requestId: 'test' });
    const settled: PromiseSettledResult<unknown>[] = [];
    const failing = nobody.transaction(async (trx) => {
      settled.push(...(await Promise.allSettled([where(trx), where(trx), where(trx)])));
    });
    expect(await codeOf(failing)).to.equal('22021');
    expect(settled.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected']);
    expect((await transaction(where))?.tenant).to.equal(tenant.id);
  });
});
