import type pg from 'pg';

/** Gives another database the tenant's own row, which foreign keys lead to; as its owner. */
export async function copyTenantRow(
  source: pg.Client,
  target: pg.Client,
  tenantId: string,
): Promise<void> {
  const { rows } = await source.query<{ tenant: object }>(
    'select to_jsonb(tenant) as tenant from tenant where id = $1',
    [tenantId],
  );
  await target.query(
    `insert into tenant select * from jsonb_populate_record(null::tenant, $1)
     on conflict (id) do nothing`,
    [rows[0]?.tenant],
  );
}

export async function removeTenantRow(client: pg.Client, tenantId: string): Promise<void> {
  await client.query('delete from tenant where id = $1', [tenantId]);
}
