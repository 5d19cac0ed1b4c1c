import { expect } from 'chai';
import { setTenantPlan } from '../../../src/access/tenants.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** Less than any refusal is held. */
const heldMs = 240;

describe('what is refused to a tenant', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  /** How long a refusal takes while requests of others are late, or are not. */
  const refusedWithin = async (isLate: boolean): Promise<number> => {
    const { shares } = instance.platform;
    shares.isLateForOthersThan = (tenantId) => isLate && tenantId === tenant.id;
    const since = performance.now();
    await tenant.get('/v1/webhooks').expect(429);
    return performance.now() - since;
  };

  // spec/platform.md R154
  it('is held while requests of others are late, and answered at once while none are', async () => {
    await setTenantPlan(instance.platform.database.platform, tenant.id, 'enterprise', 1);
    await tenant.get('/v1/webhooks').expect(200);
    expect(await refusedWithin(true)).to.be.at.least(heldMs);
    // The shortest of some: a machine that is busy itself takes time, too.
    const others = [];
    for (let each = 0; each < 20; each += 1) others.push(await refusedWithin(false));
    expect(Math.min(...others)).to.be.below(heldMs);
  });
});
