/**
 * What a token or access key may do in its tenant. Several add up. TENANTADMIN is known, so that
 * tokens of other systems' administrators are told apart from mistyped ones, and may do nothing.
 */
export const roleNames = ['READER', 'OPERATOR', 'ADMIN', 'TENANTADMIN'] as const;

export type Role = (typeof roleNames)[number];

export const isRole = (name: string): name is Role =>
  (roleNames as readonly string[]).includes(name);

/** What people and the keys that they make can be given; TENANTADMIN may do nothing. */
export const givenRoles = ['READER', 'OPERATOR', 'ADMIN'] as const satisfies readonly Role[];

export const isGivenRole = (name: string): name is (typeof givenRoles)[number] =>
  (givenRoles as readonly string[]).includes(name);
