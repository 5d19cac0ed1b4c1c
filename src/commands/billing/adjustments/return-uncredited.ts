import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { readSpentCredits } from '../../../models/billing/adjustments/adjustment-charge.js';
import { WalletLedger, type GrantPart } from '../../balances/wallet-ledger.js';
import type { PeriodItem, Uncredited } from './bill-periods.js';

/**
 * Gives back to grants what they have paid beyond what a maximum leaves, to the last that paid first
 * (spec/beyond.md R290). What has expired or was revoked meanwhile stays so.
 */
export async function returnUncredited(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  uncredited: ReadonlyMap<PeriodItem, Uncredited>,
): Promise<void> {
  const returned = [...uncredited].filter(([, { returned: back }]) => back.greaterThan(ZERO));
  const asked = returned.map(([{ charge }]) => ({
    ...charge.adjustment,
    first: charge.start,
    until: charge.until,
  }));
  const credits = await readSpentCredits(trx, scope.tenantId, asked);
  if (credits.length === 0) return;
  const ledger = await WalletLedger.ofWallets(
    trx,
    scope,
    [...new Set(credits.map(({ walletId }) => walletId))],
    [...new Set(credits.map(({ grantId }) => grantId))],
  );
  const left = new Map(credits.map((credit) => [credit, new Decimal(credit.amount)]));
  for (const [index, [item, { returned: back }]] of returned.entries()) {
    const parts: GrantPart[] = [];
    let open = back;
    for (const [credit, rest] of left) {
      if (credit.place !== index + 1 || !open.greaterThan(ZERO)) continue;
      const amount = Decimal.min(open, rest);
      parts.push({ walletId: credit.walletId, grantId: credit.grantId, amount });
      open = open.minus(amount);
    }
    ledger.giveBack(parts, item.chargeId);
  }
  await ledger.write();
}
