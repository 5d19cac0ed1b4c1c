import { InvalidArgumentError } from 'commander';

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** `30s`, `15m`, `1h`, `7d` as seconds. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit ?? ''] ?? 0);
  if (!(seconds > 0)) throw new InvalidArgumentError('Use a form such as 30s, 15m, 1h or 7d.');
  return seconds;
}

/** `ADMIN,TENANTADMIN` as a list. */
export function parseRoles(text: string): string[] {
  const roles = text.split(',').map((role) => role.trim());
  if (!roles.every((role) => /^[A-Z][A-Z0-9_]{0,63}$/.test(role))) {
    throw new InvalidArgumentError('Use role names such as ADMIN or ADMIN,TENANTADMIN.');
  }
  return roles;
}

/** A whole number of at least one. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Use a whole number from 1.');
  return Number(text);
}
