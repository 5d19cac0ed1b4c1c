import type { Knex } from 'knex';
import { Decimal } from '../kernel/money.js';

/** The tenant's tax rates in percent, by tax code. */
export async function loadTaxRates(db: Knex, tenantId: string): Promise<Map<string, Decimal>> {
  const { rows } = await db.raw<{ rows: { code: string; rate: string }[] }>(
    'select code, rate from tax_rate where tenant_id = ? and deleted_at is null',
    [tenantId],
  );
  return new Map(rows.map(({ code, rate }) => [code, new Decimal(rate)]));
}
