import { createAccount } from '../support/billing/usage.js';
import { createWallet } from '../support/billing/wallets.js';
import { asOwner } from '../support/servers/rows.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const tables = ['account', 'wallet', 'record', 'row_count'];

/** What sessions have planned, while a migration gives the tables that it reads a column more. */
describe('statements that are planned once', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const alter = (change: string): Promise<void> =>
    asOwner(instance.databaseUrl, async (client) => {
      for (const table of tables) await client.query(`alter table ${table} ${change}`);
    });
  after(() => alter('drop column if exists come_later'));

  it('go on', async () => {
    const accountId = await createAccount(tenant, 'a');
    const walletId = await createWallet(tenant, accountId);
    await tenant.post('/v1/mobjects', { name: 'thing' }).expect(201);
    const { body } = await tenant.post('/v1/mobjects/thing/mdata', { data: {} }).expect(201);
    const paths = [
      `/api/v1/external/accounts/${accountId}`,
      '/api/v1/external/accounts/a?isExternal=true',
      '/api/v1/external/accounts?size=20',
      `/api/v1/external/wallets/${walletId}`,
      `/v1/mobjects/thing/mdata/${body.id}`,
    ];
    const read = async (): Promise<void> => {
      for (const path of paths) await tenant.get(path).expect(200);
    };
    await read();
    await alter(`add column come_later text not null default 'x'`);
    await read();
  });
});
