import { allowsScope } from '../../kernel/oauth-scope.js';
import { problem } from '../../kernel/problem.js';
import type { Identity } from '../../access/authenticate.js';
import { isReadOnly, type Operation } from '../../schemas/http/operation.js';
import { checkRoles } from '../../schemas/http/operation-access.js';

/**
 * 403: an operation needs a role, or a scope that the user did not give the OAuth client
 * (docs/decisions/0097).
 */
export function checkAccess(operation: Operation, { roles, grant, accountId }: Identity): void {
  if (accountId !== undefined) {
    // Whatever is not declared for embeds is refused, with whatever roles.
    if (operation.embed) return;
    throw problem.forbidden(
      'This token reads the usage, invoices and receipts of one account, and nothing else.',
    );
  }
  checkRoles(operation, roles);
  const needed = isReadOnly(operation) ? 'mcp:read' : 'mcp:write';
  if (grant && !allowsScope(grant.scopes, needed)) {
    throw problem.forbidden(`The scope ${needed} is required.`, { scope: needed });
  }
}

/** Whether a body gives a property, whose name leads through objects and lists. */
function gives(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((one) => gives(one, [name, ...rest]));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
  return gives((value as Readonly<Record<string, unknown>>)[name], rest);
}

/** 403: a body gives what only ADMIN may give: the prices of a line are catalog. */
export function checkAdminFields(
  { adminFields = [] }: Operation,
  { roles }: Pick<Identity, 'roles'>,
  body: unknown,
): void {
  if (roles.includes('ADMIN')) return;
  const field = adminFields.find((name) => gives(body, name.split('.')));
  if (field !== undefined) {
    throw problem.forbidden(`The role ADMIN is required to give '${field}'.`, { field });
  }
}
