import type { Knex } from 'knex';
import { Decimal, decimalText, sum, ZERO } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  AdjustmentCharge,
  readSpentCredits,
} from '../../../models/billing/adjustments/adjustment-charge.js';
import { WalletEntry } from '../../../models/balances/wallet-entry.js';
import { WalletLedger, type GrantPart } from '../../balances/wallet-ledger.js';
import type { PeriodItem, Uncredited } from './bill-periods.js';
import type { PeriodCharge } from './period-charges.js';
import { payersBefore, type PeriodCredits } from './period-credits.js';

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
  const left = new Map(all.map((part) => [part, part.amount]));
  for (const [item, { returned: back }] of returned) {
    const parts: GrantPart[] = [];
    let open = back;
    for (const part of payers.get(item.charge) ?? []) {
      const rest = left.get(part) ?? ZERO;
      const amount = Decimal.min(open, rest);
      if (!amount.greaterThan(ZERO)) continue;
      parts.push({ ...part, amount });
      left.set(part, rest.minus(amount));
      open = open.minus(amount);
    }
    ledger.giveBack(parts, item.chargeId);
  }
  await ledger.write();
}

/** The grants that have paid what these charges lower, the last that did first. */
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
  }));
  const payers = new Map<PeriodCharge, GrantPart[]>();
  for (const charge of charges) {
    payers.set(charge, capped.includes(charge) ? [] : payersBefore(credits.get(charge) ?? []));
  }
  for (const { place, walletId, grantId, amount } of await readSpentCredits(trx, tenantId, asked)) {
    const of = capped[place - 1];
    if (of) payers.get(of)?.push({ walletId, grantId, amount: new Decimal(amount) });
  }
  return payers;
}

/**
 * A void takes back what a maximum, or a lowered top-up, had returned, as far as it is still there: the next
 * run returns it again. What is left counts as returned.
 */
export async function takeUncredited(
  trx: Knex.Transaction,
  scope: Pick<Scope, 'tenantId' | 'now'>,
  voided: readonly AdjustmentCharge[],
): Promise<void> {
  const lowered = voided.filter(({ returned }) => new Decimal(returned).greaterThan(ZERO));
  if (lowered.length === 0) return;
  const { tenantId } = scope;
  const ids = lowered.map(({ id }) => id);
  const credits = await WalletEntry.credits(trx, tenantId, ids);
  const ledger = await WalletLedger.ofWallets(
    trx,
    scope,
    [...new Set(credits.map(({ walletId }) => walletId))],
    [...new Set(credits.map(({ grantId }) => grantId))],
  );
  for (const { id, returned } of lowered) {
    const parts = credits
      .filter(({ chargeId }) => chargeId === id)
      .map((part) => ({ ...part, amount: new Decimal(part.amount).negated() }));
    const taken = sum(ledger.takeBack(parts, id).map(({ amount }) => amount));
    await AdjustmentCharge.query(trx)
      .forTenant(tenantId)
      .findById(id)
      .patch({ returned: decimalText(new Decimal(returned).minus(taken)) });
  }
  await ledger.write();
}
