import { problem, type Problem } from '../../kernel/problem.js';
import { isGivenRole } from '../../kernel/role.js';
import type { ProviderClaims } from '../../messages/access/sign-in-provider.js';
import type { OidcSettings } from '../../platform/config/config-oidc.js';

/** Somebody who signed in at the provider, as this instance knows him. */
export interface Person {
  readonly tenantId: string;
  readonly roles: readonly string[];
  /** Who the audit says it was. */
  readonly subject: string;
  /** Who it is at the provider, and which session of his there (OpenID Connect Core 1.0, section 2). */
  readonly provider: {
    readonly issuer: string;
    readonly sub: string;
    readonly sid: string | null;
  };
}

/** What stands before the name of a person: no key, token or command is called so. */
const personPrefix = 'oidc:';

/** Without signs that are not seen: it stands in the audit, and on pages. */
const nameForm = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;
const tenantForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const ownText = (claims: ProviderClaims, name: string, form: RegExp): string | undefined => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return typeof value === 'string' && form.test(value) ? value : undefined;
};

/** Values of the claim: a list of texts, or one text, which may be several with spaces between them. */
function valuesOf(claims: ProviderClaims, name: string): readonly string[] {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  if (typeof value === 'string') return [value, ...value.split(' ')];
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function rolesOf(claims: ProviderClaims, { rolesClaim, roles }: OidcSettings): readonly string[] {
  const values = valuesOf(claims, rolesClaim);
  const given = values.map((value) => (roles === undefined ? value : (roles.get(value) ?? '')));
  return [...new Set(given.filter(isGivenRole))].sort();
}

/** Nobody signs in: what the provider says of this person gives him nothing here. */
const refused = (message: string, details: Readonly<Record<string, unknown>>): Problem =>
  problem.forbidden(message, details);

/**
 * Who a person is here, by the claims that are configured (docs/decisions/0471). Throws a forbidden
 * problem, whose details say why, for one who has no tenant or no role.
 */
export function personOf(claims: ProviderClaims, settings: OidcSettings): Person {
  const { issuer, actorClaim, tenantClaim, rolesClaim } = settings;
  const name = ownText(claims, actorClaim, nameForm);
  if (name === undefined) {
    throw refused(
      `Your organization does not say who you are: the claim ${actorClaim} is missing.`,
      {
        reason: 'no actor',
      },
    );
  }
  const subject = `${personPrefix}${name}`;
  const tenantId = settings.tenant ?? ownText(claims, tenantClaim, tenantForm);
  if (tenantId === undefined) {
    throw refused(
      `You are ${name}, but your organization does not say for which tenant: the claim ${tenantClaim} is missing.`,
      { reason: 'no tenant', subject },
    );
  }
  const roles = rolesOf(claims, settings);
  if (roles.length === 0) {
    throw refused(
      `You are ${name}, but you have no role in the tenant '${tenantId}': the claim ${rolesClaim} gives none.`,
      { reason: 'no role', subject, tenantId },
    );
  }
  const sid = ownText(claims, 'sid', nameForm) ?? null;
  return { tenantId, roles, subject, provider: { issuer, sub: claims.sub, sid } };
}
