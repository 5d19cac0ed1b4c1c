import { expect } from 'chai';
import { personOf } from '../../src/access/oidc/person-by-claims.js';
import { Problem } from '../../src/kernel/problem.js';
import { oidcSettings } from '../../src/platform/config/config-oidc.js';

const settingsOf = (variables: object) => {
  const found = oidcSettings({
    OIDC_ISSUER: 'https://login.example',
    OIDC_CLIENT_ID: 'billing',
    ...variables,
  });
  if (!found) throw new Error('There are no settings.');
  return found;
};

const claims = { sub: '00u1', durabill_tenant: 'acme', durabill_roles: ['ADMIN'] };
const known = { tenantId: 'acme', roles: ['ADMIN'], subject: 'oidc:00u1' };

/** As [what the claims are, the settings, the claims, the person]. */
const people: readonly (readonly [string, object, object, object])[] = [
  ['tenant and a list of roles', {}, claims, known],
  [
    'several roles',
    {},
    { ...claims, durabill_roles: ['READER', 'ADMIN', 'READER'] },
    { ...known, roles: ['ADMIN', 'READER'] },
  ],
  [
    'one role as a text',
    {},
    { ...claims, durabill_roles: 'OPERATOR' },
    { ...known, roles: ['OPERATOR'] },
  ],
  [
    'roles as a text with spaces',
    {},
    { ...claims, durabill_roles: 'x READER' },
    { ...known, roles: ['READER'] },
  ],
  [
    'roles that are no texts, too',
    {},
    { ...claims, durabill_roles: [1, null, 'ADMIN', ['READER']] },
    known,
  ],
  [
    'groups with names',
    { OIDC_ROLES_CLAIM: 'groups', OIDC_ROLES: 'Billing Admins=ADMIN,finance=READER' },
    { ...claims, groups: ['everybody', 'Billing Admins'] },
    known,
  ],
  [
    'one group with a space',
    { OIDC_ROLES_CLAIM: 'groups', OIDC_ROLES: 'Billing Admins=ADMIN' },
    { ...claims, groups: 'Billing Admins' },
    known,
  ],
  [
    'a tenant for everybody',
    { OIDC_TENANT: 'only' },
    { ...claims, durabill_tenant: 'other' },
    { ...known, tenantId: 'only' },
  ],
  [
    'another claim for the tenant',
    { OIDC_TENANT_CLAIM: 'org' },
    { ...claims, org: 'other' },
    { ...known, tenantId: 'other' },
  ],
  [
    'another claim for the actor',
    { OIDC_ACTOR_CLAIM: 'email' },
    { ...claims, email: 'ann@acme.example' },
    { ...known, subject: 'oidc:ann@acme.example' },
  ],
];

/** As [what the claims are, the settings, the claims, the reason]. */
const strangers: readonly (readonly [string, object, object, string])[] = [
  ['no role', {}, { ...claims, durabill_roles: [] }, 'no role'],
  [
    'roles that are none',
    {},
    { ...claims, durabill_roles: ['admin', 'TENANTADMIN', ' ADMIN'] },
    'no role',
  ],
  ['roles as an object', {}, { ...claims, durabill_roles: { ADMIN: true } }, 'no role'],
  // Where groups have roles, a group that is called as a role has none.
  ['a group called ADMIN', { OIDC_ROLES: 'finance=READER' }, claims, 'no role'],
  ['no tenant', {}, { ...claims, durabill_tenant: undefined }, 'no tenant'],
  ['several tenants', {}, { ...claims, durabill_tenant: ['acme', 'other'] }, 'no tenant'],
  [
    'a tenant with signs that no tenant has',
    {},
    { ...claims, durabill_tenant: "a' or 1=1" },
    'no tenant',
  ],
  ['all tenants', {}, { ...claims, durabill_tenant: '*' }, 'no tenant'],
  ['no actor', { OIDC_ACTOR_CLAIM: 'email' }, claims, 'no actor'],
  [
    'an actor that is no text',
    { OIDC_ACTOR_CLAIM: 'email' },
    { ...claims, email: ['a'] },
    'no actor',
  ],
  ['an actor of several lines', {}, { ...claims, sub: 'a\nb' }, 'no actor'],
  ['an actor whose text turns its direction', {}, { ...claims, sub: 'a\u202eb' }, 'no actor'],
  ['an actor without end', {}, { ...claims, sub: 'a'.repeat(201) }, 'no actor'],
  ['a claim that every object has', { OIDC_TENANT_CLAIM: 'constructor' }, claims, 'no tenant'],
];

describe('who a person is', () => {
  for (const [name, variables, given, person] of people) {
    it(`is told by ${name}`, () => {
      const { provider, ...who } = personOf(given as typeof claims, settingsOf(variables));
      expect(who).to.deep.equal(person);
      expect(provider).to.deep.equal({ issuer: 'https://login.example', sub: '00u1', sid: null });
    });
  }

  for (const [name, variables, given, reason] of strangers) {
    it(`is not told by ${name}`, () => {
      const identify = () => personOf(given as typeof claims, settingsOf(variables));
      expect(identify).to.throw(Problem).with.nested.property('details.reason', reason);
    });
  }

  it('has the session at the provider where that says it', () => {
    const { provider } = personOf({ ...claims, sid: 'session' }, settingsOf({}));
    expect(provider.sid).to.equal('session');
  });
});
