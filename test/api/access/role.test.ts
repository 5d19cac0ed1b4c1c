import { expect } from 'chai';
import { examples } from '../../../src/schemas/openapi/examples.js';
import { external, type TestTenant } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** What a declaration of an operation alone cannot say (docs/decisions/0195). */
describe('roles', () => {
  const instance = useInstance({ flowTimeoutMs: 500 });
  const admin = useTenant(instance);
  let operator: TestTenant;
  let reader: TestTenant;
  before(async () => {
    operator = await instance.tenant(['OPERATOR'], admin.id);
    reader = await instance.tenant(['READER'], admin.id);
  });

  // spec/beyond.md R7, R8
  it('an OPERATOR sells, and sets no price', async () => {
    const account = await operator.post(`${external}/accounts`, examples.account).expect(201);
    const service = await admin.post(`${external}/services`, examples.service).expect(201);
    await operator.post(`${external}/services`, examples.service).expect(403);
    const line = { serviceId: service.body.id, startDate: '2026-01-01' };
    const contract = { number: 'R-1', masterAccountId: account.body.id, services: [line] };
    const made = await operator.post(`${external}/contracts`, contract).expect(201);
    for (const field of ['rateCards', 'priceableAttributes']) {
      const priced = { ...contract, number: 'R-2', services: [{ ...line, [field]: [] }] };
      const refused = await operator.post(`${external}/contracts`, priced).expect(403);
      expect(refused.body.message).to.equal(
        `The role ADMIN is required to give 'services.${field}'.`,
      );
      const lines = `${external}/contracts/${String(made.body.id)}/services`;
      await operator.post(lines, { ...line, [field]: [] }).expect(403);
    }
    await reader.post(`${external}/accounts`, examples.account).expect(403);
    await reader.get(`${external}/accounts`).expect(200);
  });

  // spec/flows.md R9
  it('a flow takes the same roles by its name as by its slug', async () => {
    const start = { data: { name: 'Data' } };
    await operator.post('/v1/workflows/service-create/execute', start).expect(403);
    await operator.post(`${external}/run/billing/service/create`, start.data).expect(403);
    await reader.post('/v1/workflows/account-create/execute', { data: {} }).expect(403);
    // It may, and is told what is wrong with it.
    await operator.post('/v1/workflows/account-create/execute', { data: {} }).expect(400);
  });

  it('tools of MCP take them, too', async () => {
    const call = async (tenant: TestTenant, name: string) => {
      const params = { name, arguments: { body: {} } };
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const { body } = await tenant.post('/mcp', message).expect(200);
      return String(body.result.content[0].text);
    };
    expect(await call(operator, 'runCreateService')).to.include('The role ADMIN is required.');
    expect(await call(operator, 'runCreateAccount')).to.include('VALIDATION_ERROR');
    expect(await call(reader, 'runCreateAccount')).to.include('OPERATOR or ADMIN is required');
  });
});
