import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { TaxRate } from '../../models/billing/tax-rate.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import * as schema from '../../schemas/billing/tax-rate.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import { listPage } from '../lists/listing.js';

export type TaxRateDto = Static<typeof schema.TaxRate>;

export const presentTaxRate = presenterOf(schema.TaxRate);

/** One page of the tax rates, by code. */
export function listTaxRates(
  { db, tenantId }: Scope,
  page: PageRequest,
): Promise<Listed<TaxRateDto>> {
  const query = TaxRate.query(db.read).forTenant(tenantId).existing().orderBy('code');
  return listPage(query, page, presentTaxRate);
}

/** Tax rates in percent, by tax code. */
export interface TaxRates {
  find(code: string): Decimal | undefined;
}

/** The tenant's tax rates. A code without an exact match is looked up case-insensitively. */
export async function loadTaxRates(db: Knex, tenantId: string): Promise<TaxRates> {
  const rates = await TaxRate.query(db).forTenant(tenantId).existing().orderBy('code');
  const byCode = new Map(rates.map(({ code, rate }) => [code, new Decimal(rate)]));
  // Codes that differ in case only may exist from before they were refused: then an exact match is
  // required.
  const folded = new Map<string, Decimal | undefined>();
  for (const [code, rate] of byCode) {
    const key = code.toLowerCase();
    folded.set(key, folded.has(key) ? undefined : rate);
  }
  return { find: (code) => byCode.get(code) ?? folded.get(code.toLowerCase()) };
}
