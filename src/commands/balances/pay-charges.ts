import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import { WalletHold } from '../../models/balances/wallet-hold.js';
import { partsOf } from './hold.js';
import { WalletLedger, type GrantPart } from './wallet-ledger.js';

/** A charge that was just made. */
export interface UnpaidCharge {
  readonly id: string;
  /** The billed account. */
  readonly accountId: string;
  readonly currency: string;
  /** Null of what is for several: only grants for all services pay it. */
  readonly serviceId: string | null;
  readonly usageType: string;
  readonly amount: Decimal;
  /** Of usage: money may be held for its event. */
  readonly externalTranId?: string;
}

/** What grants have paid, by the id of the charge. */
export type PaidCharges = ReadonlyMap<string, Decimal>;

type Origin = Pick<Scope, 'tenantId' | 'now'>;

/**
 * Lets grants pay what they can of charges, in their order (spec/beyond.md R265): of those above 0 that
 * the account owes. Where no account has a wallet with money it costs one statement. A preview computes
 * the same, and locks and writes nothing.
 */
export async function payCharges(
  trx: Knex.Transaction,
  scope: Origin,
  charges: readonly UnpaidCharge[],
  mode: 'write' | 'preview' = 'write',
): Promise<PaidCharges> {
  const paid = new Map<string, Decimal>();
  const owed = charges.filter(
    ({ usageType, amount }) => usageType === 'Charge' && amount.greaterThan(ZERO),
  );
  if (owed.length === 0) return paid;
  const accounts = new Map(
    owed.map(({ accountId, currency }) => [`${accountId}${currency}`, { accountId, currency }]),
  );
  const ledger = await WalletLedger.ofAccounts(
    trx,
    scope,
    [...accounts.values()],
    mode === 'write' ? 'lock' : 'preview',
  );
  if (!ledger) return paid;
  const holds = ledger.hasHeld ? await findHolds(trx, scope, owed) : new Map<string, HeldParts>();
  for (const charge of owed) {
    const { id: chargeId, accountId, currency, serviceId, amount } = charge;
    // Written out, because this is done for every charge: spread objects cost ten times as much.
    const payable = { chargeId, accountId, currency, serviceId, amount };
    const held = holds.size === 0 ? undefined : holds.get(holdKey(charge));
    if (!held) {
      const drawn = drawnBy(ledger.draw(payable));
      if (!drawn.isZero()) paid.set(chargeId, drawn);
      continue;
    }
    const { open, left } = ledger.drawHeld(payable, held.parts, held.id);
    held.parts = left;
    const parts = ledger.draw({ ...payable, amount: open });
    const drawn = amount.minus(open).plus(drawnBy(parts));
    if (!drawn.isZero()) paid.set(chargeId, drawn);
  }
  if (mode === 'preview') return paid;
  for (const { id, parts } of holds.values()) ledger.release(parts, id);
  const ids = [...holds.values()].map(({ id }) => id);
  await WalletHold.end(trx, scope.tenantId, ids, { status: 'committed', endedAt: ledger.now });
  await ledger.write();
  return paid;
}

const drawnBy = (parts: readonly GrantPart[]): Decimal =>
  parts.reduce((drawn, { amount }) => (drawn.isZero() ? amount : drawn.plus(amount)), ZERO);

/** What is left of a hold while its event is paid. */
interface HeldParts {
  readonly id: string;
  parts: readonly GrantPart[];
}

const holdKey = (of: {
  readonly accountId: string;
  readonly currency: string;
  readonly externalTranId?: string | null;
}): string => `${of.accountId}/${of.currency}/${of.externalTranId ?? ''}`;

/** The holds that the events of these charges commit. */
async function findHolds(
  trx: Knex.Transaction,
  { tenantId }: Origin,
  charges: readonly UnpaidCharge[],
): Promise<ReadonlyMap<string, HeldParts>> {
  const accountIds = [...new Set(charges.map(({ accountId }) => accountId))];
  const externalIds = [...new Set(charges.flatMap(({ externalTranId }) => externalTranId ?? []))];
  const holds = await WalletHold.committing(trx, tenantId, accountIds, externalIds);
  return new Map(
    holds.map((hold) => [
      holdKey({ ...hold, externalTranId: hold.externalId }),
      { id: hold.id, parts: partsOf(hold) },
    ]),
  );
}

/** A charge that is owed no more, and the charge under which it is given back: itself, or its reversal. */
export interface ReturnedCharge {
  readonly chargeId: string;
  readonly under: string;
}

/**
 * Gives back what these charges have drawn, because they are owed no more; the entries are `return`.
 * What has expired or was revoked meanwhile stays so.
 */
export async function returnCredits(
  trx: Knex.Transaction,
  scope: Origin,
  returned: readonly ReturnedCharge[],
): Promise<void> {
  if (returned.length === 0) return;
  const under = new Map(returned.map((one) => [one.chargeId, one.under]));
  const credits = await WalletEntry.credits(trx, scope.tenantId, [...under.keys()]);
  if (credits.length === 0) return;
  const walletIds = [...new Set(credits.map(({ walletId }) => walletId))];
  const grantIds = [...new Set(credits.map(({ grantId }) => grantId))];
  const ledger = await WalletLedger.ofWallets(trx, scope, walletIds, grantIds);
  for (const { chargeId, grantId, walletId, amount } of credits) {
    const part = { grantId, walletId, amount: new Decimal(amount) };
    ledger.giveBack([part], under.get(chargeId) ?? chargeId);
  }
  await ledger.write();
}
