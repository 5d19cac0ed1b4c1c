import { expect } from 'chai';
import { SignJWT, generateKeyPair } from 'jose';
import type { Operation } from '../../src/schemas/operation.js';
import { declaredOperations } from '../support/answers.js';
import { openTestInstance, type TestInstance } from '../support/instance.js';
import { sendRaw } from '../support/raw.js';

const anyId = '01939c6e-7a00-7000-8000-00000000dead';

/** Access is settled before the path, query and body are looked at, so that none must be right. */
const send = (instance: TestInstance, { method, path }: Operation, authorization?: string) =>
  sendRaw(instance.url, {
    method,
    path: path.replace(/\{\w+\}/g, anyId),
    headers: authorization === undefined ? {} : { Authorization: authorization },
  });

describe('access', () => {
  let instance: TestInstance;
  const bearer: Record<string, string | undefined> = {};
  const forbidden: Record<string, string> = {};
  before(async () => {
    instance = await openTestInstance();
    const tenant = await instance.tenant();
    const signed = async (tenantId: string | undefined, expiresInSeconds: number) => {
      const { privateKey } = await generateKeyPair('ES256');
      return new SignJWT({ ...(tenantId === undefined ? {} : { tenantId }), roles: ['ADMIN'] })
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
      ...{ tenantId: tenant.id, orgId: 'org', roles: ['ADMIN'], subject: 'tester' },
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
  });
  after(() => instance.close());

  for (const operation of declaredOperations) {
    const { id, access = 'admin', family = 'billing' } = operation;
    if (access === 'public') continue;

    it(`${id} answers 401 to whoever has no valid token`, async () => {
      expect(Object.keys(bearer)).to.have.length(11);
      for (const [name, authorization] of Object.entries(bearer)) {
        const answer = await send(instance, operation, authorization);
        expect(answer.status, `${name}: ${answer.text}`).to.equal(401);
        expect(answer.headers['www-authenticate'], name).to.equal('Bearer');
      }
    });

    if (access !== 'admin') continue;
    it(`${id} answers 403 to whoever is no ADMIN`, async () => {
      expect(Object.keys(forbidden)).to.have.length(3);
      for (const [name, token] of Object.entries(forbidden)) {
        const answer = await send(instance, operation, `Bearer ${token}`);
        expect(answer.status, `${name}: ${answer.text}`).to.equal(403);
        if (family === 'billing') {
          expect(JSON.parse(answer.text)).to.include({ status: 403, error: 'Forbidden' });
        }
      }
    });
  }
});
