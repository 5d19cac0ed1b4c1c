/**
 * What a token or access key may do in its tenant. Several add up. TENANTADMIN is known, so that
 * tokens of other systems' administrators are told apart from mistyped ones, and may do nothing.
 */
export const roleNames = ['READER', 'OPERATOR', 'ADMIN', 'TENANTADMIN'] as const;

export type Role = (typeof roleNames)[number];

export const isRole = (name: string): name is Role =>
  (roleNames as readonly string[]).includes(name);
