import { problem } from '../../kernel/problem.js';
import type { Role } from '../../kernel/role.js';
import { isReadOnly, type Access, type Operation } from './operation.js';

/** Who may call an operation. */
export const accessOf = (declared: Operation): Access =>
  declared.access ?? (isReadOnly(declared) ? 'reader' : 'admin');

const roles: Readonly<Partial<Record<Access, readonly Role[]>>> = {
  reader: ['READER', 'OPERATOR', 'ADMIN'],
  operator: ['OPERATOR', 'ADMIN'],
  admin: ['ADMIN'],
};

/** The roles of which one is needed; undefined: none is. */
export const rolesOf = (declared: Operation): readonly Role[] | undefined =>
  roles[accessOf(declared)];

/** 403: a caller has none of the roles that an operation takes (docs/decisions/0195). */
export function checkRoles(operation: Operation, roles: readonly string[]): void {
  const needed = rolesOf(operation);
  if (needed === undefined || needed.some((role) => roles.includes(role))) return;
  const last = needed.at(-1) ?? '';
  const others = needed.slice(0, -1).join(', ');
  throw problem.forbidden(`The role ${others === '' ? last : `${others} or ${last}`} is required.`);
}
