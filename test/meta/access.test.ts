import { expect } from 'chai';
import { SignJWT, generateKeyPair } from 'jose';
import { defined } from '../../src/kernel/defined.js';
import { flowList } from '../../src/schemas/flows/index.js';
import type { Operation } from '../../src/schemas/http/operation.js';
import { accessOf, rolesOf } from '../../src/schemas/http/operation-access.js';
import { declaredOperations } from '../support/http/answers.js';
import type { TestInstance } from '../support/servers/instance.js';
import { sendRaw } from '../support/http/raw.js';
import { useInstance } from '../support/servers/use-instance.js';

const anyId = '01939c6e-7a00-7000-8000-00000000dead';

/** Access is settled before the path, query and body are looked at, so that none must be right. */
const send = (instance: TestInstance, { method, path }: Operation, authorization?: string) =>
  sendRaw(instance.url, {
    method,
    path: path.replace(/\{\w+\}/g, anyId),
    headers: authorization === undefined ? {} : { Authorization: authorization },
  });

/** What OPERATOR may beyond reading (docs/decisions/0195), from the specification and by hand. */
const operators = [
  // The flows of accounts, contracts and payments; those of services change prices.
  ...flowList
    .filter(([, { slug }]) => !slug.startsWith('billing/service/'))
    .flatMap(([, { slug }]) => [`POST /run/${slug}`, `POST /run/${slug}/batch`]),
  'POST /v1/workflows/{workflowId}/execute',
  'POST /v1/workflows/{workflowId}/executions/{executionId}/cancel',
  'POST /accounts',
  'PUT /accounts/{accountId}',
  'DELETE /accounts/{accountId}',
  'POST /contracts',
  'PUT /contracts/{contractId}',
  'DELETE /contracts/{contractId}',
  'POST /contracts/{contractId}/services',
  'PUT /contracts/{contractId}/services/{contractServiceId}',
  'DELETE /contracts/{contractId}/services/{contractServiceId}',
  'PUT /contracts/{contractId}/services/{contractServiceId}/end',
  'PUT /contracts/services/by-instance/{serviceInstanceId}/end',
  'PUT /contract-services/{contractServiceId}',
  'PUT /contract-services/{contractServiceId}/end',
  'PUT /api/q2c-entity-services/CONTRACT/{contractServiceId}',
  'DELETE /api/q2c-entity-services/CONTRACT/{contractServiceId}',
  'POST /payments',
  'PUT /payments/{paymentId}',
  'DELETE /payments/{paymentId}',
  'POST /v1/payments/{paymentId}/apply',
  'POST /wallets',
  'PUT /wallets/{walletId}',
  'DELETE /wallets/{walletId}',
  'POST /v1/alerts',
  'PUT /v1/alerts/{alertId}',
  'DELETE /v1/alerts/{alertId}',
  'POST /v1/holds',
  'POST /v1/holds/{holdId}/commit',
  'DELETE /v1/holds/{holdId}',
  'POST /v1/wallets/{walletId}/grants',
  'POST /v1/wallets/{walletId}/grants/{grantId}/revoke',
  'POST /accounts/{accountId}/addresses',
  'PUT /accounts/{accountId}/addresses/{addressId}',
  'DELETE /accounts/{accountId}/addresses/{addressId}',
  'PUT /accounts/{accountId}/activate',
  'PUT /accounts/{accountId}/deactivate',
  'PUT /accounts/{accountId}/tax-labels',
  'POST /v1/mobjects/{mobjectId}/mdata',
  'POST /v1/mobjects/{mobjectId}/mdata/bulk',
  'PUT /v1/mobjects/{mobjectId}/mdata/{mdataId}',
  'DELETE /v1/mobjects/{mobjectId}/mdata/{mdataId}',
  'POST /v1/invoices/{invoiceId}/void',
  'POST /v1/invoices/{invoiceId}/credit-notes',
  'POST /v1/usage-events/{id}/retry',
  'POST /v1/usage-events/retry',
  'POST /v1/usage-events/dismiss',
  'POST /v1/clock',
  'POST /v1/approvals/{approvalId}',
  'POST /v1/usage-events/{id}/cancel',
  'POST /v1/usage-events/{id}/amend',
  'POST /v1/invoices/{invoiceId}/void/preview',
  'POST /v1/invoices/{invoiceId}/credit-notes/preview',
];

describe('access', () => {
  // There are no workers: what starts a workflow is not waited for.
  const instance = useInstance({ flowTimeoutMs: 200 });
  const bearer: Record<string, string | undefined> = {};
  const forbidden: Record<string, string> = {};
  const ofRole: Record<string, string> = {};
  before(async () => {
    const tenant = await instance.tenant();
    const signed = async (tenantId: string | undefined, expiresInSeconds: number) => {
      const { privateKey } = await generateKeyPair('ES256');
      return new SignJWT({ ...defined({ tenantId }), roles: ['ADMIN'] })
        .setProtectedHeader({
          alg: 'ES256',
          kid: String(instance.platform.tokens.jwks.keys[0]?.kid),
        })
        .setSubject('tester')
        .setAudience('durabill')
        .setIssuedAt()
        .setExpirationTime(Math.floor(Date.now() / 1000) + expiresInSeconds)
        .sign(privateKey);
    };
    const unsigned = [{ alg: 'none' }, { tenantId: tenant.id, roles: ['ADMIN'], sub: 'tester' }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const expired = await instance.platform.tokens.issue({
      tenantId: tenant.id,
      orgId: 'org',
      roles: ['ADMIN'],
      subject: 'tester',
      expiresInSeconds: -60,
    });
    Object.assign(bearer, {
      'no token': undefined,
      'an empty header': '',
      'another scheme': `Basic ${Buffer.from('a:b').toString('base64')}`,
      'a token that is none': 'Bearer nonsense',
      'two tokens': `Bearer ${tenant.token} ${tenant.token}`,
      'an unsigned token': `Bearer ${unsigned}.`,
      'an expired token': `Bearer ${expired}`,
      'a token signed by another key': `Bearer ${await signed(tenant.id, 3600)}`,
      'a token with a changed signature': `Bearer ${tenant.token.slice(0, -8)}AAAAAAAA`,
      'a token without tenantId': `Bearer ${await instance.token('')}`,
      'an unknown access key': `Bearer dbk_0123456789abcdef_${'x'.repeat(43)}`,
    });
    Object.assign(forbidden, {
      'the role TENANTADMIN only': await instance.token(tenant.id, ['TENANTADMIN']),
      'no role': await instance.token(tenant.id, []),
      'a role in another letter case': await instance.token(tenant.id, ['admin']),
    });
    for (const role of ['READER', 'OPERATOR', 'ADMIN']) {
      ofRole[role] = await instance.token(tenant.id, [role]);
    }
  });

  for (const operation of declaredOperations) {
    const { id, family = 'billing' } = operation;
    if (accessOf(operation) === 'public') continue;

    // spec/resources.md R1
    it(`${id} answers 401 to whoever has no valid token`, async () => {
      expect(Object.keys(bearer)).to.have.length(11);
      for (const [name, authorization] of Object.entries(bearer)) {
        const answer = await send(instance, operation, authorization);
        expect(answer.status, `${name}: ${answer.text}`).to.equal(401);
        expect(answer.headers['www-authenticate'], name).to.equal('Bearer');
      }
    });

    const needed = rolesOf(operation);
    // spec/beyond.md R6
    it(`${id} answers 403 exactly to the roles that it does not declare`, async () => {
      for (const [role, token] of Object.entries(ofRole)) {
        const answer = await send(instance, operation, `Bearer ${token}`);
        const isAllowed = needed === undefined || needed.some((one) => one === role);
        expect(answer.status === 403, `${role}: ${answer.status} ${answer.text}`).to.equal(
          !isAllowed,
        );
        expect(answer.status, role).to.not.equal(401);
      }
    });

    if (needed === undefined) continue;
    // spec/resources.md R2
    it(`${id} answers 403 to whoever has no role that it takes`, async () => {
      expect(Object.keys(forbidden)).to.have.length(3);
      for (const [name, token] of Object.entries(forbidden)) {
        const answer = await send(instance, operation, `Bearer ${token}`);
        expect(answer.status, `${name}: ${answer.text}`).to.equal(403);
        if (family === 'billing') {
          expect(JSON.parse(answer.text)).to.include({ status: 403, error: 'Forbidden' });
        }
        if (needed.length === 1) expect(answer.text).to.include('The role ADMIN is required.');
      }
    });
  }

  // spec/resources.md R2; spec/platform.md R3; spec/beyond.md R6, R7
  it('each operation takes the roles that are written down here', () => {
    const taken = (roles: string) =>
      declaredOperations
        .filter((one) => String(rolesOf(one)) === roles)
        .map(({ method, path }) => `${method} ${path.replace('/api/v1/external', '')}`);
    const readers = taken('READER,OPERATOR,ADMIN');
    // Every GET, and what is asked by a POST.
    const reads = declaredOperations.filter(
      (one) => one.method === 'GET' && accessOf(one) !== 'public',
    );
    const readingPosts = readers.filter((one) => !one.startsWith('GET'));
    expect(readers).to.have.length(reads.length + readingPosts.length);
    expect(readingPosts).to.have.members([
      'POST /v1/usage-events/simulate',
      'POST /v1/usage-events/outcomes',
      'POST /v1/repricings/preview',
      'POST /v1/workflows/validate',
      'POST /v1/workflows/{workflowId}/simulate',
      'POST /v1/mobjects/{mobjectId}/mdata/search',
    ]);
    expect(taken('OPERATOR,ADMIN')).to.have.members(operators);
  });
});
