import { expect } from 'chai';
import { contracts, makeLine } from '../../support/billing/contracts.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

// docs/decisions/0314
describe('dates of a line outside of its contract', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  const may = { startDate: '2026-05-01', endDate: '2026-05-31' };
  const june = { startDate: '2026-06-01', endDate: '2026-07-31' };
  const never =
    'this line begins on 2026-06-01, after its contract has ended on 2026-05-31: it is never charged.';
  const partly =
    'this line runs until 2026-07-31, and its contract ends on 2026-05-31: later days are not charged.';

  it('are named when the line is written, and in no other answer', async () => {
    const { path, contractId, serviceId } = await makeLine(tenant, {}, may);
    const lines = `${contracts}/${contractId}/services`;
    const { body: added } = await tenant.post(lines, { serviceId, ...june }).expect(201);
    expect(added.warnings).to.deep.equal([never]);
    const { body: put } = await tenant.put(`${lines}/${added.id}`, added).expect(200);
    expect(put.warnings).to.deep.equal([never]);
    const { body: read } = await tenant.get(`${lines}/${added.id}`).expect(200);
    expect(read).to.not.have.property('warnings');
    const { body: longer } = await tenant.put(path, { endDate: '2026-07-31' }).expect(200);
    expect(longer.warnings).to.deep.equal([partly]);
    const { body: ended } = await tenant.put(path, { terminationDate: '2026-05-31' }).expect(200);
    expect(ended).to.not.have.property('warnings');
    const early = { serviceId, endDate: '2026-04-30' };
    const { body: before } = await tenant.post(lines, early).expect(201);
    expect(before.warnings).to.deep.equal([
      'this line ends on 2026-04-30, before its contract begins on 2026-05-01: it is never charged.',
    ]);
  });

  it('are named when the contract is written', async () => {
    const { masterAccountId, serviceId } = await makeLine(tenant);
    const { body } = await tenant
      .post(contracts, {
        masterAccountId,
        ...may,
        services: [{ serviceId }, { serviceId, ...june }],
      })
      .expect(201);
    const warnings = [`Contract service ${body.services[1].id}: ${never}`];
    expect(body.warnings).to.deep.equal(warnings);
    const path = `${contracts}/${body.id}`;
    const { body: read } = await tenant.get(path).expect(200);
    expect(read).to.not.have.property('warnings');
    const { body: longer } = await tenant.put(path, { endDate: '2026-07-31' }).expect(200);
    expect(longer).to.not.have.property('warnings');
    const { body: shorter } = await tenant.put(path, { endDate: '2026-05-31' }).expect(200);
    expect(shorter.warnings).to.deep.equal(warnings);
  });

  it('are those of the contract where the line has none', async () => {
    const { path } = await makeLine(tenant, {}, may);
    const { body } = await tenant.put(path, { startDate: '2026-05-15' }).expect(200);
    expect(body).to.not.have.property('warnings');
  });
});
