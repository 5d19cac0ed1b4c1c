import { InvalidArgumentError } from 'commander';
import { durationSeconds } from '../kernel/time/duration.js';
import { isRole, roleNames } from '../kernel/role.js';

/** `30s`, `15m`, `1h`, `7d` as seconds. */
export function parseDuration(text: string): number {
  const seconds = durationSeconds(text);
  if (seconds === undefined) {
    throw new InvalidArgumentError('Use a form such as 30s, 15m, 1h or 7d.');
  }
  return seconds;
}

/** `READER,OPERATOR` as a list; a role that nothing knows is refused. */
export function parseRoles(text: string): string[] {
  const roles = [...new Set(text.split(',').map((role) => role.trim()))];
  const unknown = roles.find((role) => !isRole(role));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`'${unknown}' is no role: use ${roleNames.join(', ')}.`);
  }
  return roles;
}

/** A whole number of at least one. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.');
  return Number(text);
}
