/** Of the tenant whose id an expression gives: whether it is suspended. */
export const isSuspendedSql = (id: string): string =>
  `exists (select from tenant where tenant.id = ${id} and tenant.suspended_at is not null)`;

/** What it is called. */
export const tenantNameSql = (id: string): string =>
  `(select tenant.name from tenant where tenant.id = ${id})`;
