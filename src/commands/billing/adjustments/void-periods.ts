import type { Knex } from 'knex';
import { Decimal, sum } from '../../../kernel/numbers/money.js';
import { eachInPortions } from '../../../kernel/portions.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  AdjustmentCharge,
  type ChargedPeriod,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import { WalletEntry } from '../../../models/balances/wallet-entry.js';
import { takeFirst, type GrantPart } from '../../balances/grant-part.js';
import { WalletLedger } from '../../balances/wallet-ledger.js';

/** What a grant has paid of what was billed for a period and is void. */
interface VoidPart extends GrantPart {
  readonly chargeId: string;
}

/**
 * A void gives back what grants have paid of what adjustments had billed, and takes back what these had given
 * back to them, as far as it is still there: of each period and grant one less the other, for what was spent
 * meanwhile has been given already. The next run bills, and gives back, anew.
 */
export async function voidPeriods(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  voided: readonly ChargedPeriod[],
): Promise<void> {
  if (voided.length === 0) return;
  const keyOf = (row: ChargedPeriod): string =>
    `${row.adjustmentId}/${row.accountId}/${row.periodStart}`;
  const periods = new Set(voided.map(keyOf));
  const accountIds = [...new Set(voided.map(({ accountId }) => accountId))];
  const all = await AdjustmentCharge.ofAccounts(trx, scope.tenantId, accountIds);
  const rows = all.filter((row) => row.voidedAt !== null && periods.has(keyOf(row)));
  const keys = new Map(rows.map((row) => [row.id, keyOf(row)]));
  const credits = await WalletEntry.credits(trx, scope.tenantId, [...keys.keys()]);
  if (credits.length === 0) return;
  const ledger = await WalletLedger.ofWallets(
    trx,
    scope,
    [...new Set(credits.map(({ walletId }) => walletId))],
    [...new Set(credits.map(({ grantId }) => grantId))],
  );
  const byGrant = new Map<string, VoidPart[]>();
  await eachInPortions(credits, ({ chargeId, grantId, walletId, amount }) => {
    const key = `${keys.get(chargeId) ?? ''}/${grantId}`;
    const parts = byGrant.get(key) ?? [];
    parts.push({ chargeId, grantId, walletId, amount: new Decimal(amount) });
    byGrant.set(key, parts);
  });
  await eachInPortions([...byGrant.values()], (parts) => settle(ledger, parts));
  await ledger.write();
}

/** What parts of one grant come to goes back to it, or is taken from it, under the charges that it is of. */
function settle(ledger: WalletLedger, parts: readonly VoidPart[]): void {
  const net = sum(parts.map(({ amount }) => amount));
  const isTaken = net.isNegative();
  const open = isTaken ? parts.map((part) => ({ ...part, amount: part.amount.negated() })) : parts;
  for (const part of takeFirst(open, net.abs()).taken) {
    if (isTaken) ledger.takeBack([part], part.chargeId);
    else ledger.giveBack([part], part.chargeId);
  }
}
