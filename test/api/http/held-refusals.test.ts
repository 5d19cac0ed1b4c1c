import { expect } from 'chai';
import { setTenantPlan } from '../../../src/access/tenants.js';
import { problem } from '../../../src/kernel/problem.js';
import { RawConnection } from '../../support/http/raw-connection.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** Less than any refusal is held. */
const heldMs = 240;

// spec/platform.md R154
describe('what is refused to a tenant', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const makeLate = (isLate: boolean): void => {
    const { shares } = instance.platform;
    shares.isLateForOthersThan = (tenantId) => isLate && tenantId === tenant.id;
  };
  /** How long a refusal takes while requests of others are late, or are not. */
  const refusedWithin = async (isLate: boolean): Promise<number> => {
    makeLate(isLate);
    const since = performance.now();
    await tenant.get('/v1/webhooks').expect(429);
    return performance.now() - since;
  };

  it('is held while requests of others are late, and answered at once while none are', async () => {
    await setTenantPlan(instance.platform.database.platform, tenant.id, 'enterprise', 1);
    await tenant.get('/v1/webhooks').expect(200);
    expect(await refusedWithin(true)).to.be.at.least(heldMs);
    // The shortest of some: a machine that is busy itself takes time, too.
    const others = [];
    for (let each = 0; each < 20; each += 1) others.push(await refusedWithin(false));
    expect(Math.min(...others)).to.be.below(heldMs);
  });

  it('is held one after the other where a connection sent several at once', async () => {
    makeLate(true);
    const connection = new RawConnection(instance.url);
    const since = performance.now();
    const head = `GET /v1/webhooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.token}\r\n\r\n`;
    connection.send(head.repeat(4));
    for (let each = 1; each <= 4; each += 1) {
      expect((await connection.answer())?.status).to.equal(429);
      expect(performance.now() - since).to.be.at.least(each * heldMs);
    }
    connection.socket.destroy();
  });

  it('is held where it came by MCP, and where ingestion has no room for it', async () => {
    makeLate(true);
    const { shares } = instance.platform;
    const enter = shares.enter.bind(shares);
    const refusedAt: number[] = [];
    for (const refuse of [problem.rateLimited, problem.overloaded]) {
      shares.enter = () => {
        throw refuse('Too much.');
      };
      const since = performance.now();
      const { status } = await tenant.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' });
      expect(status).to.be.oneOf([429, 503]);
      refusedAt.push(performance.now() - since);
    }
    shares.enter = enter;
    for (const took of refusedAt) expect(took).to.be.at.least(heldMs);
  });
});
