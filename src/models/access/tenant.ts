/** SQL for whether the tenant with the id of an expression is suspended. */
export const isSuspendedSql = (id: string): string =>
  `exists (select from tenant where tenant.id = ${id} and tenant.suspended_at is not null)`;

/** SQL for whether the tenant with the id of an expression is being moved, or was moved from here. */
export const isFencedSql = (id: string): string =>
  `exists (select from tenant_fence as fence where fence.tenant_id = ${id})`;

/** SQL for the name of the tenant with the id of an expression. */
export const tenantNameSql = (id: string): string =>
  `(select tenant.name from tenant where tenant.id = ${id})`;
