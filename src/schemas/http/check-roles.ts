import { problem } from '../../kernel/problem.js';
import { rolesOf, type Operation } from './operation.js';

/** 403: a caller has none of the roles that an operation takes (docs/decisions/0195). */
export function checkRoles(operation: Operation, roles: readonly string[]): void {
  const needed = rolesOf(operation);
  if (needed === undefined || needed.some((role) => roles.includes(role))) return;
  const last = needed.at(-1) ?? '';
  const others = needed.slice(0, -1).join(', ');
  throw problem.forbidden(`The role ${others === '' ? last : `${others} or ${last}`} is required.`);
}
