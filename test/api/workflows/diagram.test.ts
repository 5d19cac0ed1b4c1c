import { expect } from 'chai';
import { examples } from '../../../src/schemas/openapi/examples.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

describe("tenants' workflows: diagrams", () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/beyond.md R355
  it('are SVG of the version that executions begin with, for their tenant', async () => {
    const { body } = await tenant.post('/v1/workflows', examples.workflow).expect(201);
    const answer = await tenant.get(`/v1/workflows/${body.id}/diagram`).expect(200);
    expect(answer.headers['content-type']).to.equal('image/svg+xml');
    expect(answer.headers['content-disposition']).to.include('large-payment-1.svg');
    const svg = String(answer.body);
    expect(svg)
      .to.match(/^<svg /)
      .and.include('>Large payments</title>')
      .and.include('judge');
    expect(
      (await tenant.get('/v1/workflows/large-payment/diagram').expect(200)).body,
    ).to.deep.equal(answer.body);
    const builtIn = await tenant.get('/v1/workflows/billing-run/diagram').expect(404);
    expect(builtIn.body.error.message).to.equal(
      "'billing-run' is built in: only workflows of your own have that.",
    );
    await tenant.get('/v1/workflows/nothing/diagram').expect(404);
    const other = await instance.tenant();
    await other.get(`/v1/workflows/${body.id}/diagram`).expect(404);
  });
});
