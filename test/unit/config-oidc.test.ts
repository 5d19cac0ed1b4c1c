import { expect } from 'chai';
import { readConfig } from '../../src/platform/config/config.js';

const client = { OIDC_ISSUER: 'https://login.example/acme', OIDC_CLIENT_ID: 'billing' };
const defaults = {
  issuer: 'https://login.example/acme',
  clientId: 'billing',
  clientSecret: undefined,
  scopes: 'openid email profile',
  tenant: undefined,
  tenantClaim: 'durabill_tenant',
  rolesClaim: 'durabill_roles',
  roles: undefined,
  actorClaim: 'sub',
  sessionMaxSeconds: 43_200,
};

/** As [variables, the provider]. */
const providers = [
  [{}, undefined],
  [client, defaults],
  [
    { ...client, OIDC_ISSUER: 'http://127.0.0.1:9000' },
    { ...defaults, issuer: 'http://127.0.0.1:9000' },
  ],
  // An issuer is a text that is compared: a slash at its end belongs to it.
  [
    { ...client, OIDC_ISSUER: 'https://a.example/' },
    { ...defaults, issuer: 'https://a.example/' },
  ],
  [
    {
      ...client,
      OIDC_CLIENT_SECRET: 'secret',
      OIDC_SCOPES: 'openid groups',
      OIDC_TENANT: 'acme',
      OIDC_ROLES_CLAIM: 'https://acme.example/roles',
      OIDC_ROLES: 'cn=finance=READER, Billing Admins=ADMIN',
      OIDC_ACTOR_CLAIM: 'email',
      OIDC_SESSION_MAX: '30d',
    },
    {
      ...defaults,
      clientSecret: 'secret',
      scopes: 'openid groups',
      tenant: 'acme',
      rolesClaim: 'https://acme.example/roles',
      roles: new Map([
        ['cn=finance', 'READER'],
        ['Billing Admins', 'ADMIN'],
      ]),
      actorClaim: 'email',
      sessionMaxSeconds: 30 * 86_400,
    },
  ],
] as const;

/** As [variables, a part of what the start says]. */
const faults = [
  [{ OIDC_ISSUER: 'https://login.example' }, 'OIDC_CLIENT_ID is not set'],
  [{ OIDC_CLIENT_ID: 'billing' }, 'OIDC_CLIENT_ID is set, but OIDC_ISSUER is not'],
  [{ OIDC_SESSION_MAX: '1h' }, 'OIDC_SESSION_MAX is set, but OIDC_ISSUER is not'],
  [{ ...client, OIDC_ISSUER: 'http://login.example' }, 'it must be an https address'],
  [{ ...client, OIDC_ISSUER: 'https://login.example?a=b' }, 'it must be an https address'],
  [{ ...client, OIDC_ISSUER: 'https://me:secret@login.example' }, 'it must be an https address'],
  [{ ...client, OIDC_ISSUER: 'login.example' }, 'it must be an https address'],
  [{ ...client, OIDC_SCOPES: 'email profile' }, 'openid among them'],
  [{ ...client, OIDC_ROLES: 'finance' }, 'OIDC_ROLES is'],
  [{ ...client, OIDC_ROLES: 'finance=CHIEF' }, 'OIDC_ROLES is'],
  [{ ...client, OIDC_ROLES: 'finance=TENANTADMIN' }, 'OIDC_ROLES is'],
  [{ ...client, OIDC_ROLES: 'finance=READER,finance=ADMIN' }, 'OIDC_ROLES is'],
  [{ ...client, OIDC_ROLES: '=ADMIN' }, 'OIDC_ROLES is'],
  [{ ...client, OIDC_SESSION_MAX: '31d' }, 'a duration from 5m to 30d'],
  [{ ...client, OIDC_SESSION_MAX: '1m' }, 'a duration from 5m to 30d'],
  [{ ...client, OIDC_TENANT: 'a b' }, 'the id of a tenant'],
  [{ ...client, OIDC_TENANT: 'a', OIDC_TENANT_CLAIM: 'b' }, 'are both set'],
] as const;

describe('the provider of sign-ins in the configuration', () => {
  for (const [variables, provider] of providers) {
    it(`is that of ${JSON.stringify(variables)}`, () => {
      expect(readConfig(variables).oidc).to.deep.equal(provider);
    });
  }

  for (const [variables, fault] of faults) {
    it(`is refused: ${JSON.stringify(variables)}`, () => {
      expect(() => readConfig(variables)).to.throw(fault);
    });
  }
});
