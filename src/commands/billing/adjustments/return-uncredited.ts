import type { Knex } from 'knex';
import { defined } from '../../../kernel/defined.js';
import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { readSpentCredits } from '../../../models/billing/adjustments/adjustment-charge.js';
import { negated, netOfGrants, takeFirst, type GrantPart } from '../../balances/grant-part.js';
import { WalletLedger } from '../../balances/wallet-ledger.js';
import type { PeriodItem } from './bill-periods.js';
import type { PeriodCharge } from './period-charges.js';
import { partsOfRows, type PeriodCredits, type Uncredited } from './period-credits.js';

/**
 * Gives back to grants what they have paid beyond what a maximum leaves, or a lowered top-up, to the last
 * that paid first (spec/beyond.md R290, R388). What has expired or was revoked meanwhile stays so.
 */
export async function returnUncredited(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  uncredited: ReadonlyMap<PeriodItem, Uncredited>,
  credits: PeriodCredits,
): Promise<void> {
  const returned = [...uncredited].filter(([, { returned: back }]) => back.greaterThan(ZERO));
  const charges = [...new Set(returned.map(([{ charge }]) => charge))];
  const payers = await findPayers(trx, scope.tenantId, charges, credits);
  const all = [...payers.values()].flat();
  if (all.length === 0) return;
  const ledger = await WalletLedger.ofWallets(
    trx,
    scope,
    [...new Set(all.map(({ walletId }) => walletId))],
    [...new Set(all.map(({ grantId }) => grantId))],
  );
  const given = new Map<PeriodCharge, GrantPart[]>();
  for (const [{ charge, chargeId }, { returned: back }] of returned) {
    // Those of a top-up have paid it, and not what others lower.
    const others = charge.adjustment.kind === 'maximum' ? charge.countedNow : [];
    const known = [charge, ...others].flatMap((one) => given.get(one) ?? []);
    const open = netOfGrants([...(payers.get(charge) ?? []), ...negated(known)]);
    const { taken } = takeFirst(open, back);
    ledger.giveBack(taken, chargeId);
    given.set(charge, [...(given.get(charge) ?? []), ...taken]);
  }
  await ledger.write();
}

/** What grants have paid of what these charges lower, and not got back, the last that did first. */
async function findPayers(
  trx: Knex.Transaction,
  tenantId: string,
  charges: readonly PeriodCharge[],
  credits: PeriodCredits,
): Promise<ReadonlyMap<PeriodCharge, readonly GrantPart[]>> {
  const capped = charges.filter(({ adjustment }) => adjustment.kind === 'maximum');
  const asked = capped.map((charge) => ({
    ...charge.adjustment,
    first: charge.start,
    until: charge.until,
    ...defined({ billedAfter: charge.billedAfter }),
  }));
  const spent = new Map<PeriodCharge, GrantPart[]>(capped.map((charge) => [charge, []]));
  for (const { place, walletId, grantId, amount } of await readSpentCredits(trx, tenantId, asked)) {
    const of = capped[place - 1];
    if (of) spent.get(of)?.push({ walletId, grantId, amount: new Decimal(amount) });
  }
  return new Map(
    charges.map((charge) => {
      const { earlier, countedBefore, withinBefore } = charge;
      const ofUsage = spent.get(charge);
      if (!ofUsage) return [charge, partsOfRows(earlier, credits)];
      const ofPeriods = partsOfRows([...earlier, ...countedBefore, ...withinBefore], credits);
      return [charge, netOfGrants([...ofUsage, ...ofPeriods])];
    }),
  );
}
