import { expect } from 'chai';
import { AttemptsOfAddress } from '../../src/access/limits/attempts-of-address.js';
import { ClientAddresses } from '../../src/access/client-address.js';
import { openMetrics } from '../../src/platform/metrics.js';
import { setTenantPlan } from '../../src/access/tenants.js';
import { calling, message, sendMcp } from '../support/http/mcp.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const loopback = new ClientAddresses().find('127.0.0.1');

describe('limits before anybody is known', () => {
  it('count each address by itself, and a network of IPv6 as one', () => {
    const limits = new AttemptsOfAddress(openMetrics(() => new Map()));
    const clients = new ClientAddresses(['10.0.0.1']);
    const attacker = clients.find('10.0.0.1', '2001:db8::1');
    for (let count = 0; count < 30; count += 1) {
      limits.check('signIn', attacker);
      limits.count('signIn', clients.find('10.0.0.1', `2001:db8::${count}`));
    }
    expect(() => limits.check('signIn', attacker)).to.throw('Too many attempts');
    limits.check('token', attacker);
    limits.check('signIn', clients.find('10.0.0.1', '2001:db8:0:1::1'));
    limits.check('signIn', clients.find('10.0.0.1'));
  });

  it('count those who register apart behind a proxy that nobody named', () => {
    const unnamed = new ClientAddresses();
    const [first, second] = ['198.51.100.1', '198.51.100.2'].map(
      (address) => unnamed.find('10.0.0.1', `1.1.1.1, ${address}`).registrant,
    );
    expect(first).not.to.equal(second);
    const named = new ClientAddresses(['10.0.0.1']);
    expect(named.find('10.0.0.1', '198.51.100.1').registrant).to.equal('198.51.100.1');
    // Who is no proxy that we know of cannot be another by saying so.
    expect(named.find('203.0.113.7', '198.51.100.1').registrant).to.equal('203.0.113.7');
  });

  describe('over HTTP', () => {
    const instance = useInstance();
    const tenant = useTenant(instance);

    it('refuse requests for tokens that fail again and again', async () => {
      const ask = () =>
        fetch(`${instance.url}/api/oauth/per-user/token`, {
          method: 'POST',
          body: new URLSearchParams({ grant_type: 'authorization_code', client_id: 'x' }),
        });
      expect((await ask()).status).to.equal(401);
      const { addressLimits } = instance.platform;
      for (let count = 0; count < 12_000; count += 1) addressLimits.count('token', loopback);
      const answer = await ask();
      expect(answer.status).to.equal(429);
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
      expect(await answer.json()).to.include({ error: 'temporarily_unavailable' });
    });

    it('count a call of a tool as the request that it is', async () => {
      const db = instance.platform.database.platform;
      await setTenantPlan(db, tenant.id, 'enterprise', 2);
      const call = async (name: string, given: object) => {
        const answer = await fetch(`${instance.url}/mcp`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${tenant.token}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name, arguments: given },
          }),
        });
        const { result } = (await answer.json()) as {
          result: { isError?: boolean; content: [{ text: string }] };
        };
        const { error } = JSON.parse(result.content[0].text) as {
          error?: { code: string; details: object };
        };
        return { isError: result.isError === true, error };
      };
      expect((await call('listWorkflows', {})).isError).to.equal(false);
      await tenant.get('/v1/mobjects').expect(200);
      const { isError, error } = await call('listWorkflows', {});
      expect(isError).to.equal(true);
      expect(error).to.deep.include({ code: 'RATE_LIMITED' });
      expect(error?.details).to.include({ limit: 2 });
      // What is not limited is not counted.
      expect((await call('listAccounts', {})).isError).to.equal(false);
    });

    // spec/platform.md R155
    it('answers a batch by MCP as a whole, and none in which an id stands twice', async () => {
      const tenant = await instance.tenant();
      const send = (...messages: readonly object[]) =>
        sendMcp(instance.url, tenant.token, messages, {});
      const listed = (id: number) => ({ ...calling('listRatedTransactions', {}), id });
      const answer = await send(listed(1), listed(2), { ...message('ping'), id: 'a' });
      expect(answer.status).to.equal(200);
      const answers = JSON.parse(answer.text) as { readonly id: number | string }[];
      expect(answers.map(({ id }) => id)).to.have.members([1, 2, 'a']);
      const twice = await send(listed(1), message('ping'));
      expect(twice.status).to.equal(400);
      expect(twice.text).to.contain('Two messages have the id 1.');
    });
  });
});
