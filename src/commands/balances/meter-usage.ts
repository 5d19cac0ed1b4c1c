import type { Knex } from 'knex';
import type { MeterUsage } from '../../models/balances/meter-charge.js';
import type { AccountCurrency } from '../../models/balances/wallet-balance.js';
import { UsageCounter } from '../../models/usage/usage-counter.js';

/**
 * The usage that each of these charges is of: that of the meter of its first metered row (docs/decisions/0502).
 * Charges without any are left out. `counterOf` says the counter of a charge.
 */
export async function readMeterUsages<Charge extends AccountCurrency>(
  db: Knex,
  tenantId: string,
  charges: readonly Charge[],
  counterOf: (charge: Charge) => string | null,
): Promise<ReadonlyMap<Charge, MeterUsage>> {
  const counters = new Map<Charge, string>();
  for (const charge of charges) {
    const counterId = counterOf(charge);
    if (counterId !== null) counters.set(charge, counterId);
  }
  const meters = await UsageCounter.meterIds(db, tenantId, new Set(counters.values()));
  const usages = new Map<Charge, MeterUsage>();
  for (const [charge, counterId] of counters) {
    const meterId = meters.get(counterId);
    const { accountId, currency } = charge;
    if (meterId !== undefined) usages.set(charge, { meterId, accountId, currency });
  }
  return usages;
}
