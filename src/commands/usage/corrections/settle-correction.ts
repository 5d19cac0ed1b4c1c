import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { payCharges, returnCredits, type UnpaidCharge } from '../../balances/pay-charges.js';

/** Charges that are settled at once. */
const pageSize = 5_000;

/**
 * A reversal puts back what its charge drew, and the new charges draw (spec/beyond.md R280). It locks
 * wallets until the commit.
 */
export async function settleAll(
  trx: Knex.Transaction,
  scope: Scope,
  reversals: readonly { readonly id: string; readonly of: string }[],
  charges: readonly UnpaidCharge[],
): Promise<void> {
  await returnCredits(
    trx,
    scope,
    reversals.map(({ id, of }) => ({ chargeId: of, under: id })),
  );
  await payCharges(trx, scope, charges);
}

interface Page {
  readonly eventIds: readonly string[];
  readonly beforeIds: readonly string[];
  readonly afterIds: readonly string[];
  readonly last: number;
}

/**
 * The same of a large correction, whose charges are in the database only; all are put back before any
 * draws. One statement where the tenant has no wallet.
 */
export async function settleWritten(
  trx: Knex.Transaction,
  scope: Scope,
  correctionId: string,
): Promise<void> {
  const { tenantId } = scope;
  const [found] = await sqlRows<{ hasWallets: boolean }>(
    trx,
    `select exists (select from wallet where tenant_id = ?) as "hasWallets"`,
    [tenantId],
  );
  if (found?.hasWallets !== true) return;
  for (const work of ['return', 'pay'] as const) {
    for (let after = -1; ;) {
      const [page] = await sqlRows<Page>(
        trx,
        `select array_agg(distinct event_id)::text[] as "eventIds",
           array_agg(before_id)::text[] as "beforeIds", array_agg(after_id)::text[] as "afterIds",
           max(position) as last
         from (
           select * from usage_correction_charge
           where tenant_id = ? and correction_id = ? and position > ? order by position limit ?
         ) as page having count(*) > 0`,
        [tenantId, correctionId, after, pageSize],
      );
      if (!page) break;
      after = page.last;
      const all = await RatedTransaction.allOfEvents(trx, tenantId, page.eventIds);
      const made = [...all.values()].flat();
      const [goes, comes] = [new Set(page.beforeIds), new Set(page.afterIds)];
      const reversals = made.flatMap(({ id, reverses }) =>
        reverses !== null && goes.has(reverses) ? [{ id, of: reverses }] : [],
      );
      const charges = made.filter(({ id }) => comes.has(id));
      if (work === 'return') await settleAll(trx, scope, reversals, []);
      else await settleAll(trx, scope, [], charges.map(unpaid));
    }
  }
}

const unpaid = (charge: RatedTransaction): UnpaidCharge => ({
  id: charge.id,
  accountId: charge.accountId,
  currency: charge.currency,
  serviceId: charge.serviceId,
  usageType: charge.usageType,
  amount: new Decimal(charge.amount),
  externalTranId: charge.externalTranId,
});
