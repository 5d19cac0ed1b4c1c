import { expect } from 'chai';
import { sqlRows } from '../../../src/models/db/sql-rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../../support/billing/usage.js';
import { createWallet } from '../../support/billing/wallets.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** What the database keeps in arrays has all its digits, as what is in columns of its own has. */
describe('amounts that no float holds', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);
  /** 2 ^ 53 + 1: its float is the number before it. */
  const odd = '9007199254740993';
  const even = '9007199254740992';
  /** Its float is 1000000000. */
  const long = '1000000000.0000000001';
  let accountId: string;
  let serviceId: string;
  before(async () => {
    accountId = await createAccount(tenant, 'acme');
    serviceId = await createService(tenant, 'Calls');
  });

  // spec/resources.md R25; spec/beyond.md R275, R276
  it('are shown and passed as thresholds of alerts', async () => {
    const scope = `"measure":"quantity","serviceId":"${serviceId}","attribute":"api_calls"`;
    const thresholds = `"thresholds":[${long},${odd}]`;
    const body = `{"name":"Calls","period":"Monthly",${scope},${thresholds}}`;
    const { body: made } = await tenant.post('/v1/alerts', body).expect(201);
    const path = `/v1/alerts/${made.id as string}`;
    expect((await tenant.get(path).expect(200)).text).to.include(thresholds);
    await tenant.put(path, { name: 'All calls' }).expect(200);
    expect((await tenant.get(path).expect(200)).text).to.include(thresholds);

    let sent = 0;
    const triggeredBy = async (calls: string) => {
      const eventTimestamp = new Date().toISOString();
      await send(
        tenant,
        usage('acme', serviceId, { dimensions: { api_calls: calls }, eventTimestamp }),
      );
      sent += 1;
      await waitUntilRated(tenant, sent);
      const { rows } = await asOwner(instance.databaseUrl, (client) =>
        client.query<object>(
          `select threshold::text, value::text from alert_trigger where tenant_id = $1
           order by alert_trigger.threshold`,
          [tenant.id],
        ),
      );
      return rows;
    };
    const first = { threshold: long, value: even };
    expect(await triggeredBy(even)).to.deep.equal([first]);
    const both = [first, { threshold: odd, value: odd }];
    expect(await triggeredBy('1')).to.deep.equal(both);
    // Once in a period.
    expect(await triggeredBy('1')).to.deep.equal(both);
  });

  // spec/resources.md R25; spec/beyond.md R301
  it('are postings of the journal', async () => {
    const walletId = await createWallet(tenant, accountId);
    const grant = `{"externalId":"large","amount":${odd}.25,"kind":"purchased"}`;
    await tenant.post(`/v1/wallets/${walletId}/grants`, grant).expect(201);
    const { text } = await tenant.get('/v1/journal?kind=grant').expect(200);
    expect(text).to.include(`"amount":-${odd}.25`).and.include(`"amount":${odd}.25`);
  });

  it('are read as text in arrays, and so are dates', async () => {
    const [row] = await sqlRows<object>(
      tenant.scope.db.read,
      `select array[${odd}, 0.10, null]::numeric[] as amounts, array[${odd}]::bigint[] as counts,
         array['2026-03-01']::date[] as days, '{}'::numeric[] as none`,
    );
    expect(row).to.deep.equal({
      amounts: [odd, '0.10', null],
      counts: [odd],
      days: ['2026-03-01'],
      none: [],
    });
  });
});
