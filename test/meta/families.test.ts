import { expect } from 'chai';
import { familyOfPath } from '../../src/api/presenters/problem.js';
import { declaredOperations } from '../support/http/answers.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const noSuchId = '0190a000-0000-7000-8000-000000000000';

describe('error families', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  // spec/resources.md R11; spec/platform.md R17; spec/beyond.md R1
  it('are those of the path for every operation', () => {
    const wrong = declaredOperations.filter(
      ({ family = 'billing', path }) => family !== familyOfPath(path),
    );
    expect(wrong.map(({ id }) => id)).to.deep.equal([]);
  });

  const cases: [what: string, method: string, path: string, status: number, code: string][] = [
    ['no such path', 'GET', '/v1/nothing', 404, 'NOT_FOUND'],
    ['a path that cannot be read', 'GET', '/v1/mobjects/%zz', 404, 'NOT_FOUND'],
    ['no such record type', 'GET', `/v1/mobjects/${noSuchId}`, 404, 'NOT_FOUND'],
    ['a bad parameter', 'GET', '/v1/mobjects?limit=x', 400, 'VALIDATION_ERROR'],
    ['a body that is no JSON', 'POST', '/v1/mobjects', 400, 'VALIDATION_ERROR'],
    ['no such usage event', 'GET', '/v1/usage-events/nothing', 404, 'NOT_FOUND'],
  ];
  for (const [what, method, path, status, code] of cases) {
    // spec/platform.md R14, R15
    it(`of records answer ${status} to ${what} with exactly their body`, async () => {
      const answer = await sendRaw(instance.url, {
        method,
        path,
        body: '{',
        headers: { Authorization: `Bearer ${tenant.token}`, 'Content-Type': 'application/json' },
      });
      expect(answer.status).to.equal(status);
      expectRecordsError(answer.text, code);
    });
  }

  it('of records answer 401 and 403 with exactly their body', async () => {
    const send = (headers: Record<string, string>) =>
      sendRaw(instance.url, { method: 'GET', path: '/v1/mobjects', headers });
    const anonymous = await send({});
    expect(anonymous.status).to.equal(401);
    expectRecordsError(anonymous.text, 'UNAUTHORIZED');
    const token = await instance.token(tenant.id, []);
    const powerless = await send({ Authorization: `Bearer ${token}` });
    expect(powerless.status).to.equal(403);
    expectRecordsError(powerless.text, 'FORBIDDEN');
  });
});

/** spec/platform.md R14. */
function expectRecordsError(text: string, code: string): void {
  const body = JSON.parse(text) as { error: Record<string, unknown> };
  expect(Object.keys(body)).to.deep.equal(['error']);
  expect(Object.keys(body.error)).to.have.members(['code', 'message', 'details', 'timestamp']);
  expect(body.error['code']).to.equal(code);
  expect(body.error['message']).to.match(/\S/);
  expect(body.error['details']).to.be.an('object');
  expect(body.error['timestamp']).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
}
