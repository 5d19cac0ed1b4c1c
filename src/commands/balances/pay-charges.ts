import type { Knex } from 'knex';
import { Decimal, sum, ZERO } from '../../kernel/numbers/money.js';
import { eachInPortions, Portions } from '../../kernel/portions.js';
import type { Scope } from '../../kernel/scope.js';
import { writeTogether } from '../../models/db/bulk-table.js';
import type { MeterUsage } from '../../models/balances/meter-charge.js';
import { firstCounterOf, type PricedRowColumns } from '../../models/usage/priced-row.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import { WalletHold } from '../../models/balances/wallet-hold.js';
import type { BalanceChanges } from './balance-changes.js';
import { MeterCredits } from './meter-credits.js';
import { readMeterUsages } from './meter-usage.js';
import { partsOf } from './holds/hold.js';
import { negated, netOfGrants, type GrantPart } from './grant-part.js';
import { WalletLedger } from './wallet-ledger.js';

/** A charge that was just made. */
export interface UnpaidCharge extends Partial<Pick<PricedRowColumns, 'counterId' | 'pricedRows'>> {
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
  /** Of usage: when it becomes known. */
  readonly ratedAt?: Date;
  /** Of what is billed again: only grants that had got it back pay it. */
  readonly owedBack?: OwedBack;
}

/** What grants had got back, and may pay again, while charges are paid that may share it. */
export interface OwedBack {
  parts: readonly GrantPart[];
  /** How much of it they pay at most. */
  open: Decimal;
}

/** What grants have paid, by the id of the charge; below zero where they got something back. */
export type PaidCharges = ReadonlyMap<string, Decimal>;

type Origin = Pick<Scope, 'tenantId' | 'now'>;

/**
 * Lets grants pay what they can of charges, in their order (spec/beyond.md R265): of those above 0 that
 * the account owes. One below 0 gives back what grants have paid of the usage of its counter beyond what
 * this comes to (R386). Where no account has a wallet it costs one statement. A preview computes the same,
 * and locks and writes nothing.
 */
export async function payCharges(
  trx: Knex.Transaction,
  scope: Origin,
  charges: readonly UnpaidCharge[],
  { mode = 'write', changes }: { mode?: 'write' | 'preview'; changes?: BalanceChanges } = {},
): Promise<PaidCharges> {
  const paid = new Map<string, Decimal>();
  for (const [{ id }, parts] of await payEach(trx, scope, charges, mode, changes)) {
    const drawn = drawnBy(parts);
    if (!drawn.isZero()) paid.set(id, drawn);
  }
  return paid;
}

/** The parts that grants would pay of each charge, or get back, below zero. */
export const previewCharges = <Charge extends UnpaidCharge>(
  trx: Knex.Transaction,
  scope: Origin,
  charges: readonly Charge[],
): Promise<ReadonlyMap<Charge, readonly GrantPart[]>> => payEach(trx, scope, charges, 'preview');

async function payEach<Charge extends UnpaidCharge>(
  trx: Knex.Transaction,
  scope: Origin,
  charges: readonly Charge[],
  mode: 'write' | 'preview',
  changes?: BalanceChanges,
): Promise<ReadonlyMap<Charge, readonly GrantPart[]>> {
  const owed = charges.filter(
    ({ usageType, amount }) => usageType === 'Charge' && !amount.isZero(),
  );
  const parts = new Map<Charge, readonly GrantPart[]>();
  if (owed.length === 0) return parts;
  const { ledger, credits, usages, lost } = await openLedger(trx, scope, owed, mode);
  if (!ledger) return parts;
  const holds = ledger.hasHeld ? await findHolds(trx, scope, owed) : new Map<string, HeldParts>();
  const portions = new Portions();
  for (const charge of owed) {
    if (portions.isOver) await portions.rest();
    const usage = ledger.hasWallets(charge) ? usages.get(charge) : undefined;
    if (usage) credits.charge(usage, charge.amount, charge.ratedAt ?? ledger.now);
    if (charge.amount.isNegative()) {
      if (usage) parts.set(charge, returnSurplus(ledger, credits, usage, charge));
      continue;
    }
    const held = holds.size === 0 ? undefined : holds.get(holdKey(charge));
    const drawn = charge.owedBack
      ? payAgain(ledger, charge, charge.owedBack, lost)
      : payOne(ledger, charge, held);
    if (drawn.length === 0) continue;
    if (usage) credits.draw(usage, drawn);
    parts.set(charge, drawn);
  }
  if (mode === 'preview') return parts;
  for (const { id, parts: held } of holds.values()) ledger.release(held, id);
  const ids = [...holds.values()].map(({ id }) => id);
  await WalletHold.end(trx, scope.tenantId, ids, { status: 'committed', endedAt: ledger.now });
  await writeTogether(trx, credits.writing(scope.tenantId));
  await ledger.write(changes);
  return parts;
}

/** All wallets of the accounts that are charged, with the grants that may get something back. */
async function openLedger<Charge extends UnpaidCharge>(
  trx: Knex.Transaction,
  scope: Origin,
  owed: readonly Charge[],
  mode: 'write' | 'preview',
) {
  const accounts = new Map(
    owed.map(({ accountId, currency }) => [`${accountId}${currency}`, { accountId, currency }]),
  );
  const credits = new MeterCredits();
  let usages: ReadonlyMap<Charge, MeterUsage> = new Map();
  let lost: ReadonlyMap<string, Decimal> = new Map();
  const lock = mode === 'write' ? 'lock' : 'preview';
  const asked = [...accounts.values()];
  const ledger = await WalletLedger.ofAccounts(trx, scope, asked, lock, async () => {
    usages = await readMeterUsages(trx, scope.tenantId, owed, counterOf);
    const falling = owed.filter(({ amount }) => amount.isNegative());
    await credits.read(
      trx,
      scope.tenantId,
      falling.flatMap((charge) => usages.get(charge) ?? []),
    );
    const payers = owed
      .flatMap(({ owedBack }) => owedBack?.parts ?? [])
      .map(({ grantId }) => grantId);
    lost = await WalletEntry.lost(trx, scope.tenantId, payers);
    return [...credits.grantIds, ...payers];
  });
  return { ledger, credits, usages, lost };
}

const counterOf = ({ counterId, pricedRows }: UnpaidCharge): string | null =>
  counterId ?? (pricedRows ? firstCounterOf(pricedRows) : null);

function payOne(
  ledger: WalletLedger,
  { id: chargeId, accountId, currency, serviceId, amount }: UnpaidCharge,
  held: HeldParts | undefined,
): readonly GrantPart[] {
  // Written out, because this is done for every charge: spread objects cost ten times as much.
  const payable = { chargeId, accountId, currency, serviceId, amount };
  if (!held) return ledger.draw(payable);
  const { open, left, drawn } = ledger.drawHeld(payable, held.parts, held.id);
  held.parts = left;
  return [...drawn, ...ledger.draw({ ...payable, amount: open })];
}

/**
 * Grants pay again what they had got back, whatever they are for: what of it has been spent is billed, and
 * what they have lost of it at their end pays as if they had not ended.
 */
function payAgain(
  ledger: WalletLedger,
  { id, amount }: Pick<UnpaidCharge, 'id' | 'amount'>,
  owedBack: OwedBack,
  lost: ReadonlyMap<string, Decimal>,
): readonly GrantPart[] {
  const paid: GrantPart[] = [];
  let open = Decimal.min(owedBack.open, amount);
  for (const part of owedBack.parts) {
    const { grantId } = part;
    const wanted = Decimal.min(part.amount, open);
    if (!wanted.greaterThan(ZERO)) continue;
    const taken = sum(ledger.takeBack([{ ...part, amount: wanted }], id).map(amountOf));
    const ended = Decimal.min(wanted.minus(taken), ledger.lostOf(grantId, lost));
    ledger.undoEnd(grantId, ended);
    ledger.takeBack([{ ...part, amount: ended }], id);
    const drawn = taken.plus(ended);
    if (!drawn.isZero()) paid.push({ ...part, amount: drawn });
    open = open.minus(drawn);
  }
  owedBack.parts = netOfGrants([...owedBack.parts, ...negated(paid)]);
  owedBack.open = owedBack.open.minus(sum(paid.map(amountOf)));
  return paid;
}

const amountOf = ({ amount }: GrantPart): Decimal => amount;

/** What grants have paid beyond what the usage of its counter comes to with a charge below 0 goes back. */
function returnSurplus(
  ledger: WalletLedger,
  credits: MeterCredits,
  usage: MeterUsage,
  { id, amount }: Pick<UnpaidCharge, 'id' | 'amount'>,
): readonly GrantPart[] {
  const back = Decimal.min(amount.negated(), credits.surplusOf(usage));
  if (back.isZero()) return [];
  const given = credits.partsOf(usage, back, ledger);
  ledger.giveBack(given, id);
  credits.draw(usage, given, -1);
  return given.map((part) => ({ ...part, amount: part.amount.negated() }));
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
  await eachInPortions(credits, ({ chargeId, grantId, walletId, amount }) => {
    const part = { grantId, walletId, amount: new Decimal(amount) };
    ledger.giveBack([part], under.get(chargeId) ?? chargeId);
  });
  await ledger.write();
}
