import { expect } from 'chai';
import { contracts, flatCard, lines, makeLine, noSuchId } from '../../support/billing/contracts.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const byInstance = (instanceId: string) =>
  `${contracts}/services/by-instance/${encodeURIComponent(instanceId)}/end`;

describe('the end of a contract service', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/resources.md R9, R68, R69
  it('answers with the ended row, by each of the three addresses', async () => {
    const { path, lineId, contractId, serviceId } = await makeLine(tenant, {
      serviceInstanceId: 'sub/1',
      startDate: '2024-01-01',
      chargeFrequency: 'Monthly',
      rateCards: [flatCard('USD', 1)],
    });
    const addresses = [`${path}/end`, `${lines}/${lineId}/end`, byInstance('sub/1')];
    for (const [index, address] of addresses.entries()) {
      const terminationDate = `2024-03-0${index + 1}`;
      const { body, headers } = await tenant
        .put(address, { terminationDate, terminationMessage: `reason ${index}` })
        .expect(200);
      expect(body).to.include({ success: true, status: 200 });
      expect(body.requestId).to.equal(headers['x-request-id']);
      expect(body.data).to.include({
        __type__: 'ContractService',
        Id: lineId,
        ContractId: contractId,
        ServiceId: serviceId,
        ServiceInstanceId: 'sub/1',
        StartDate: '2024-01-01',
        EndDate: null,
        TerminationDate: terminationDate,
        TerminationMessage: `reason ${index}`,
        ExceptionPricing: true,
      });
      expect(body.data.ChargeFrequency__r).to.deep.equal({ Name: 'Monthly' });
    }
    const { body: line } = await tenant.get(path).expect(200);
    expect(line).to.include({ terminationDate: '2024-03-03', terminationMessage: 'reason 2' });
    const { body: silent } = await tenant.put(`${path}/end`, { terminationDate: '2024-03-04' });
    expect(silent.data).to.include({ TerminationDate: '2024-03-04', TerminationMessage: null });
  });

  // spec/resources.md R69
  it('needs a date, which is a day and not before the start', async () => {
    const { path, lineId } = await makeLine(tenant, {
      serviceInstanceId: 'strict',
      startDate: '2024-01-01',
    });
    for (const address of [`${path}/end`, `${lines}/${lineId}/end`, byInstance('strict')]) {
      for (const body of [
        {},
        { terminationMessage: 'x' },
        { terminationDate: null },
        { terminationDate: '2023-12-31' },
        { terminationDate: '2026-02-30' },
        { terminationDate: 20240101 },
        { terminationDate: '2024-01-01', reason: 'x' },
      ]) {
        const { body: answer } = await tenant.put(address, body).expect(400);
        expect(answer.error).to.equal('Validation Error');
      }
      await tenant.put(address, '').expect(400);
    }
    const { body: line } = await tenant.get(path).expect(200);
    expect(line.terminationDate).to.equal(null);
    await tenant.put(`${path}/end`, { terminationDate: '2024-01-01' }).expect(200);
  });

  it("compares with the contract's start where the line has none", async () => {
    const { path } = await makeLine(tenant, {}, { startDate: '2024-05-01' });
    await tenant.put(`${path}/end`, { terminationDate: '2024-04-30' }).expect(400);
    await tenant.put(`${path}/end`, { terminationDate: '2024-05-01' }).expect(200);
    const { path: open } = await makeLine(tenant);
    await tenant.put(`${open}/end`, { terminationDate: '0001-01-01' }).expect(200);
  });

  it('is taken back by clearing the date', async () => {
    const { path } = await makeLine(tenant);
    await tenant.put(`${path}/end`, { terminationDate: '2024-01-01', terminationMessage: 'x' });
    const { body } = await tenant
      .put(path, { terminationDate: null, terminationMessage: null })
      .expect(200);
    expect(body).to.include({ terminationDate: null, terminationMessage: null });
  });

  describe('by instance', () => {
    const end = { terminationDate: '2024-06-30' };

    it('is 404 for an instance that no line has', async () => {
      const { body } = await tenant.put(byInstance('nobody'), end).expect(404);
      expect(body.message).to.contain('nobody');
      await tenant.put(byInstance(noSuchId), end).expect(404);
      await tenant.put(`${contracts}/services/by-instance/a%00b/end`, end).expect(404);
    });

    // spec/resources.md R70
    it('is 409 when several running lines have the instance', async () => {
      const [first, second] = [
        await makeLine(tenant, { serviceInstanceId: 'twice' }),
        await makeLine(tenant, { serviceInstanceId: 'twice' }),
      ];
      const { body } = await tenant.put(byInstance('twice'), end).expect(409);
      expect(body).to.include({ status: 409, error: 'Conflict' });
      // Once one is ended, the other is the one that is meant.
      await tenant.put(`${first.path}/end`, end).expect(200);
      const { body: ended } = await tenant.put(byInstance('twice'), end).expect(200);
      expect(ended.data.Id).to.equal(second.lineId);
      await tenant.put(byInstance('twice'), end).expect(409);
      await tenant.delete(second.path).expect(204);
      const { body: last } = await tenant.put(byInstance('twice'), end).expect(200);
      expect(last.data.Id).to.equal(first.lineId);
    });

    it('never meets a line of another tenant', async () => {
      const other = await instance.tenant();
      const theirs = await makeLine(other, { serviceInstanceId: 'shared' });
      await tenant.put(byInstance('shared'), end).expect(404);
      const mine = await makeLine(tenant, { serviceInstanceId: 'shared' });
      const { body } = await tenant.put(byInstance('shared'), end).expect(200);
      expect(body.data.Id).to.equal(mine.lineId);
      const { body: line } = await other.get(theirs.path).expect(200);
      expect(line.terminationDate).to.equal(null);
    });
  });
});
