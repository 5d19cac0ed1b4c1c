import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import { Adjustment } from '../../../models/billing/adjustments/adjustment.js';
import { scopeOf, type AdjustmentColumns } from './adjustment-scope.js';

/**
 * 409: another adjustment of the same charges and period contradicts it on some day: a maximum below a
 * minimum or a commitment, or a second one of its kind (spec/beyond.md R283).
 */
export async function requireNoContradiction(
  trx: Knex.Transaction,
  tenantId: string,
  given: AdjustmentColumns,
  id: string | null,
): Promise<void> {
  const { kind, period, currency, serviceId, fromDate, toDate } = given;
  if (period === null) return;
  const others = await Adjustment.query(trx)
    .forTenant(tenantId)
    .existing()
    .where({ ...scopeOf(given), period, currency, serviceId })
    .whereRaw('id is distinct from ?::uuid', [id])
    .whereRaw('(to_date is null or to_date > ?::date)', [fromDate])
    .whereRaw('(?::date is null or from_date < ?::date)', [toDate, toDate]);
  for (const other of others) {
    if (other.kind === kind) {
      throw problem.conflict(
        `There is a ${kind} of the same charges and days already, '${other.id}': end it before, or change it.`,
        { field: 'kind' },
      );
    }
    const [lower, upper] = kind === 'maximum' ? [other, given] : [given, other];
    if (upper.kind !== 'maximum' || new Decimal(lower.value).lessThanOrEqualTo(upper.value))
      continue;
    const them = `the maximum ${upper.value} is below the ${lower.kind} ${lower.value}`;
    throw problem.conflict(`Of the same charges ${them}: see the adjustment '${other.id}'.`, {
      field: 'value',
    });
  }
}
