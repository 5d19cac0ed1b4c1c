import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  meterUsageKey,
  findOverpaid,
  type MeterUsage,
} from '../../../models/balances/meter-charge.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { RatedTransaction } from '../../../models/usage/rated-transaction.js';
import { payCharges, type UnpaidCharge } from '../../balances/pay-charges.js';
import { BalanceChanges } from '../../balances/balance-changes.js';
import {
  counterOfStored,
  returnOverpaid,
  returnReversed,
  takeReturned,
  type ReversedCharge,
} from '../../balances/return-reversed.js';

/** Charges that are settled at once. */
const pageSize = 5_000;

/**
 * A reversal puts back what its charge drew, and the new charges draw (spec/beyond.md R280). It locks
 * wallets until the commit.
 */
export async function settleAll(
  trx: Knex.Transaction,
  scope: Scope,
  reversals: readonly ReversedCharge[],
  charges: readonly UnpaidCharge[],
): Promise<void> {
  const changes = new BalanceChanges();
  await takeReturned(trx, scope, reversals, changes);
  await returnReversed(trx, scope, reversals, changes);
  await payCharges(trx, scope, charges, { changes });
  await returnOverpaid(trx, scope, reversals, changes);
  await changes.settle(trx, scope);
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
  const [found] = await sqlRows<{ hasWallets: boolean; hasReturned: boolean }>(
    trx,
    `select exists (select from wallet where tenant_id = :tenantId) as "hasWallets",
       exists (
         select from usage_correction_charge as pair join wallet_entry as entry
           on entry.tenant_id = pair.tenant_id and entry.charge_id = pair.before_id
           and entry.kind = 'return'
         where pair.tenant_id = :tenantId and pair.correction_id = :correctionId
       ) as "hasReturned"`,
    { tenantId, correctionId },
  );
  if (found?.hasWallets !== true) return;
  const changes = new BalanceChanges();
  if (found.hasReturned) {
    for await (const { reversals } of readWritten(trx, tenantId, correctionId)) {
      await takeReturned(trx, scope, reversals, changes);
    }
  }
  const usages = new Map<string, MeterUsage>();
  for await (const { reversals } of readWritten(trx, tenantId, correctionId)) {
    for (const usage of await returnReversed(trx, scope, reversals, changes)) {
      usages.set(meterUsageKey(usage), usage);
    }
  }
  for await (const { charges } of readWritten(trx, tenantId, correctionId)) {
    await payCharges(trx, scope, charges.map(unpaid), { changes });
  }
  if ((await findOverpaid(trx, tenantId, [...usages.values()])).length > 0) {
    for await (const { reversals } of readWritten(trx, tenantId, correctionId)) {
      await returnOverpaid(trx, scope, reversals, changes);
    }
  }
  await changes.settle(trx, scope);
}

interface Page {
  readonly eventIds: readonly string[];
  readonly beforeIds: readonly string[];
  readonly afterIds: readonly string[];
  readonly last: number;
}

/** The reversals and new charges of a correction, page by page. */
async function* readWritten(
  trx: Knex.Transaction,
  tenantId: string,
  correctionId: string,
): AsyncGenerator<{
  readonly reversals: readonly ReversedCharge[];
  readonly charges: readonly RatedTransaction[];
}> {
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
    if (!page) return;
    after = page.last;
    const all = await RatedTransaction.allOfEvents(trx, tenantId, page.eventIds);
    const made = [...all.values()].flat();
    const [goes, comes] = [new Set(page.beforeIds), new Set(page.afterIds)];
    const byId = new Map(made.map((charge) => [charge.id, charge]));
    const reversals = made.flatMap(({ id, reverses }) => {
      const charge = reverses !== null && goes.has(reverses) ? byId.get(reverses) : undefined;
      return charge ? [{ id, of: charge.id, charge }] : [];
    });
    yield { reversals, charges: made.filter(({ id }) => comes.has(id)) };
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
  counterId: counterOfStored(charge),
  ratedAt: charge.ratedAt,
});
