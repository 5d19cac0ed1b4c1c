import { expect } from 'chai';
import pg from 'pg';
import { releaseHold } from '../../../src/commands/balances/holds/hold.js';
import { within } from '../../../src/kernel/scope.js';
import { WalletBalance } from '../../../src/models/balances/wallet-balance.js';
import { createWallet, readEntries, shortEntry } from '../../support/billing/wallets.js';
import { createAccount } from '../../support/billing/usage.js';
import { until } from '../../start/workbench.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe('a hold whose wallet is locked by somebody', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let db: pg.Client;
  let accountId: string;
  let walletId: string;
  before(async () => {
    db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
  });
  after(() => db.end());
  beforeEach(async () => {
    accountId = await createAccount(tenant, `account-${Math.random()}`);
    walletId = await createWallet(tenant, accountId, { balance: 10 });
  });

  /** Holds so much of the wallet's 10. */
  const hold = async (amount: number) => {
    const key = `key-${Math.random()}`;
    const body = { accountId, currency: 'USD', amount, expiresInSeconds: 600, key };
    return tenant.post('/v1/holds', body);
  };
  /** The process of PostgreSQL whose hold waits for the lock. */
  const waiting = async (): Promise<number | undefined> => {
    let pid: number | undefined;
    const look = async () => {
      const { rows } = await db.query<{ pid: number }>(
        `select pid from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'
           and query like '%wallet_balance join asked%'`,
      );
      pid = rows[0]?.pid;
      return pid;
    };
    await until(look, 20_000, 'a hold that waits for the lock');
    return pid;
  };

  // spec/beyond.md R268
  it('has what is free when it gets the lock, whatever was free when it came', async () => {
    const { body: first } = await hold(9);
    const { scope } = tenant;
    const asked = await scope.db.transaction(async (trx) => {
      await WalletBalance.lockWallets(trx, scope.tenantId, [walletId]);
      const asking = hold(5);
      await waiting();
      await releaseHold(within(scope, trx), first.id as string);
      return { asking };
    });
    // 10 - 9 + 9 - 5
    const { status, body } = await asked.asking;
    expect([status, body.available]).to.deep.equal([201, 5]);
    expect((await readEntries(tenant, walletId)).map(shortEntry)).to.deep.equal([
      'grant 10 = 10',
      'hold 9 = 10',
      'release 9 = 10',
      'hold 5 = 10',
    ]);
  });

  it('is made when its statement was ended, and so are those after it', async () => {
    // A connection that has prepared the statement has heard of its end, and makes the next hold.
    for (let time = 1; time <= 3; time += 1) {
      const { scope } = tenant;
      const { asking } = await scope.db.transaction(async (trx) => {
        await WalletBalance.lockWallets(trx, scope.tenantId, [walletId]);
        const begun = hold(2);
        const pid = await waiting();
        await db.query('select pg_cancel_backend($1)', [pid]);
        return { asking: begun };
      });
      const { status, body } = await asking;
      expect([status, body.available]).to.deep.equal([201, 10 - 2 * time]);
    }
    expect((await hold(1)).status).to.equal(201);
  });
});
