import { Type, type Static } from 'typebox';
import { durationSeconds } from '../../kernel/time/duration.js';
import { isGivenRole, type Role } from '../../kernel/role.js';
import { StartupError } from '../startup-error.js';

/** The name of a claim: a plain one, or an address as some providers demand of their own claims. */
const claimForm = '^[\\x21-\\x7e]{1,200}$';

/** By which provider people sign in, and what its claims mean (docs/decisions/0471). */
export const OidcEnvironment = Type.Object({
  OIDC_ISSUER: Type.Optional(
    Type.String({
      format: 'oidc-issuer',
      description:
        'an https address without query or fragment, such as https://login.example (http on this machine alone)',
    }),
  ),
  OIDC_CLIENT_ID: Type.Optional(
    Type.String({ pattern: '^[\\x20-\\x7e]{1,200}$', description: 'the id of a client' }),
  ),
  OIDC_CLIENT_SECRET: Type.Optional(Type.String({ description: 'the secret of that client' })),
  OIDC_SCOPES: Type.Optional(
    Type.String({
      format: 'oidc-scopes',
      description: 'scopes with spaces between them, openid among them',
    }),
  ),
  OIDC_TENANT: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
      description: 'the id of a tenant',
    }),
  ),
  OIDC_TENANT_CLAIM: Type.Optional(
    Type.String({ pattern: claimForm, description: 'the name of a claim' }),
  ),
  OIDC_ROLES_CLAIM: Type.Optional(
    Type.String({ pattern: claimForm, description: 'the name of a claim' }),
  ),
  OIDC_ROLES: Type.Optional(
    Type.String({
      format: 'role-names',
      description:
        'values of the claim and the roles that they give (READER, OPERATOR or ADMIN), several with ' +
        'commas, such as finance=READER,billing-admins=ADMIN',
    }),
  ),
  OIDC_ACTOR_CLAIM: Type.Optional(
    Type.String({ pattern: claimForm, description: 'the name of a claim' }),
  ),
  OIDC_SESSION_MAX: Type.Optional(
    Type.String({
      format: 'session-life',
      description: 'a duration from 5m to 30d, such as 12h',
    }),
  ),
});

type OidcValues = Static<typeof OidcEnvironment>;

const sessionMinSeconds = 5 * 60;
const sessionMaxSeconds = 30 * 86_400;
const sessionDefaultSeconds = 12 * 3_600;

export function isSessionLife(text: string): boolean {
  const seconds = durationSeconds(text) ?? 0;
  return seconds >= sessionMinSeconds && seconds <= sessionMaxSeconds;
}

/** Whether an address is of this machine: there, and nowhere else, is http as good as https. */
const isOfThisMachine = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);

export function isOidcIssuer(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isOfThisMachine(url));
}

/** The roles by values of the claim; undefined where the text has another form. */
export function readRoleNames(text: string): ReadonlyMap<string, Role> | undefined {
  const roles = new Map<string, Role>();
  for (const each of text.split(',')) {
    // A value may hold '=' itself, as the name of a group in a directory does.
    const at = each.lastIndexOf('=');
    const name = each.slice(0, Math.max(at, 0)).trim();
    const role = each.slice(at + 1).trim();
    if (name === '' || roles.has(name) || !isGivenRole(role)) return undefined;
    roles.set(name, role);
  }
  return roles;
}

/** What belongs together, and what contradicts itself. */
export function refuseHalfAProvider(values: OidcValues): void {
  if (values.OIDC_ISSUER !== undefined && values.OIDC_CLIENT_ID === undefined) {
    throw new StartupError(
      'OIDC_CLIENT_ID is not set: OIDC_ISSUER and OIDC_CLIENT_ID belong together.',
    );
  }
  if (values.OIDC_TENANT !== undefined && values.OIDC_TENANT_CLAIM !== undefined) {
    throw new StartupError(
      'OIDC_TENANT and OIDC_TENANT_CLAIM are both set: everybody is of one tenant, or a claim names it.',
    );
  }
}

/** Undefined: people sign in with access keys and tokens alone. */
export function oidcSettings(values: OidcValues) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = values;
  if (issuer === undefined || clientId === undefined) return undefined;
  return {
    issuer,
    clientId,
    /** Undefined: a public client, which PKCE alone protects. */
    clientSecret: values.OIDC_CLIENT_SECRET,
    scopes: values.OIDC_SCOPES ?? 'openid email profile',
    /** The tenant of everybody; undefined: the claim names it. */
    tenant: values.OIDC_TENANT,
    tenantClaim: values.OIDC_TENANT_CLAIM ?? 'durabill_tenant',
    rolesClaim: values.OIDC_ROLES_CLAIM ?? 'durabill_roles',
    /** Undefined: the claim has the names of the roles. */
    roles: values.OIDC_ROLES === undefined ? undefined : readRoleNames(values.OIDC_ROLES),
    actorClaim: values.OIDC_ACTOR_CLAIM ?? 'sub',
    /** How long a sign-in holds, with all that came of it. */
    sessionMaxSeconds: durationSeconds(values.OIDC_SESSION_MAX ?? '') ?? sessionDefaultSeconds,
  };
}

export type OidcSettings = NonNullable<ReturnType<typeof oidcSettings>>;
