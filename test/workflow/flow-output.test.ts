import { expect } from 'chai';
import { external } from '../support/servers/instance.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

describe('a flow that gives more than Temporal keeps', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true, isShared: true });
  const tenant = useTenant(instance);

  it('ends there, too, has its output in the execution, and is not in the way of another', async () => {
    // A mebibyte that is sent; with ids, and what was left out, it is more than two that come back.
    const rows = Array.from({ length: 7_000 }, (_each, index) => ({
      priceDimName: 'q',
      label: `L${index}`,
      priceMethod: 'QUANTITY',
      unitRate: index,
      attributeValues: [{ attributeName: 'g', attributeValue: `r${index}` }],
    }));
    const service = {
      name: 'Large',
      currency: 'USD',
      priceableAttributes: [{ name: 'q', dimensionDataType: 'Number' }],
      inputAttributes: [{ name: 'g', dimensionDataType: 'String' }],
      rateCards: [{ currency: 'USD', rows }],
    };
    const made = await tenant.post(`${external}/services`, service).expect(201);
    const id = made.body.id as string;
    const path = `${external}/run/billing/service/approve`;
    const approved = await tenant.post(path, { ID_Service: id }).expect(200);
    expect(JSON.stringify(approved.body)).to.have.length.above(2 * 1024 * 1024);
    const workflowId = `${tenant.id}/service/${id}/approve`;
    const { workflow } = instance.platform.temporal.waiter;
    const told = (await workflow.getHandle(workflowId).result()) as { executionId: string };
    expect(told).to.deep.equal({
      executionId: told.executionId,
      output: 'kept in the database',
    });
    const shown = await tenant
      .get(`/v1/workflows/service-approve/executions/${told.executionId}`)
      .expect(200);
    expect(shown.body.status).to.equal('completed');
    expect(shown.body.output.rateCards[0].rows).to.have.length(7_000);
    // As an approved service it is refused now, and not since the same would still be done.
    const again = await tenant.post(path, { ID_Service: id }).expect(409);
    expect(again.body.message).to.contain('approved');
  });
});
