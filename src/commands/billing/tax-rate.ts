import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { TaxRate } from '../../models/billing/tax-rate.js';
import { presentTaxRate, type TaxRateDto } from '../../queries/billing/tax-rate.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/billing/tax-rate.js';
import { requireTaxRatesFit } from '../rules/size-limits.js';

const rateMax = 1000;

/** 400: a rate above 1000 percent must be a typing error. */
function requireRateFits(rate: Decimal | undefined): void {
  if (rate === undefined || rate.lte(rateMax)) return;
  throw problem.validation(`'rate' must be <= ${rateMax}`, { field: 'rate' });
}

/**
 * 409: another rate has the same code in other letter case, so that a row's tax code would be
 * ambiguous. The lock is held until the transaction ends.
 */
async function requireOneCase(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  code: string,
  id: string | null = null,
): Promise<void> {
  await trx.raw('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`tax-rate/${tenantId}`]);
  const other = await TaxRate.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereRaw('lower(code) = lower(?) and code <> ?', [code, code])
    .whereRaw('id is distinct from ?::uuid', [id])
    .first();
  if (!other) return;
  throw problem.conflict(
    `'code' '${code}' differs from that of the tax rate '${other.code}' by letter case alone.`,
    { field: 'code', value: code },
  );
}

/** Sets how charges of a tax code are taxed. 409: there is a rate of this code, or too many. */
export async function createTaxRate(
  scope: Scope,
  input: Static<typeof schema.TaxRateCreate>,
): Promise<TaxRateDto> {
  requireRateFits(input.rate);
  return scope.db.transaction(async (trx) => {
    await requireOneCase(trx, scope, input.code);
    const created = await TaxRate.query(trx)
      .forTenant(scope.tenantId)
      .insert(columnsOf(schema.TaxRate, input))
      .returning('*');
    await requireTaxRatesFit(trx, scope);
    return presentTaxRate(created);
  });
}

async function lockTaxRate(trx: Knex.Transaction, scope: Scope, id: string): Promise<TaxRate> {
  const found = await TaxRate.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!found) throw problem.notFound(`There is no tax rate '${id}'.`);
  return found;
}

/** Changes what is given. 404: there is none. 409: the code is taken. */
export async function updateTaxRate(
  scope: Scope,
  id: string,
  input: Static<typeof schema.TaxRateUpdate>,
): Promise<TaxRateDto> {
  requireRateFits(input.rate);
  return scope.db.transaction(async (trx) => {
    const found = await lockTaxRate(trx, scope, id);
    if (input.code !== undefined) await requireOneCase(trx, scope, input.code, id);
    const changed = await found
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ ...columnsOf(schema.TaxRate, input), updatedAt: scope.now() })
      .returning('*');
    return presentTaxRate(changed as unknown as TaxRate);
  });
}

/** Deletes a tax rate; its code is free again. 404: there is none. */
export async function deleteTaxRate(scope: Scope, id: string): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const found = await lockTaxRate(trx, scope, id);
    await found.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  });
}
