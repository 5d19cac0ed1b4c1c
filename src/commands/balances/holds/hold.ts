import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { WalletHold, type HoldStatus } from '../../../models/balances/wallet-hold.js';
import { missingHold } from '../../../queries/balances/hold.js';
import type * as schema from '../../../schemas/balances/hold.js';
import type { GrantPart } from '../grant-part.js';
import { WalletLedger } from '../wallet-ledger.js';

export type HoldDto = Static<typeof schema.Hold>;

export const partsOf = ({ parts }: WalletHold): GrantPart[] =>
  parts.map(({ amount, ...part }) => ({ ...part, amount: new Decimal(amount) }));

/** A hold with its wallets locked, and what is over released. */
interface LockedHold {
  readonly trx: Knex.Transaction;
  readonly hold: WalletHold;
  readonly ledger: WalletLedger | undefined;
}

/** Works on a hold while its wallets are locked. 404: there is none. */
export async function withHold<T>(
  scope: Scope,
  id: string,
  work: (locked: LockedHold) => Promise<T>,
): Promise<T> {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const found = await WalletHold.query(trx).forTenant(tenantId).findById(id);
    if (!found) throw missingHold(id);
    const ledger = await WalletLedger.withMoney(trx, scope, [found]);
    const hold = await WalletHold.query(trx).forTenant(tenantId).findById(id);
    if (!hold) throw missingHold(id);
    const done = await work({ trx, hold, ledger });
    await ledger?.write();
    return done;
  });
}

/** Releases a hold (spec/beyond.md R273). 404: there is none. 409: its event is rated, or is being. */
export async function releaseHold(scope: Scope, id: string): Promise<void> {
  await withHold(scope, id, async ({ trx, hold, ledger }) => {
    if (hold.status === 'released' || hold.status === 'expired') return;
    if (hold.status !== 'open') throw problem.conflict(`The hold is ${hold.status}.`);
    await endHold(trx, scope, { hold, ledger, status: 'released' });
  });
}

/** Ends a hold, and gives back to its wallets what it had of them. */
export async function endHold(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  { hold, ledger, status }: Pick<LockedHold, 'hold' | 'ledger'> & { readonly status: HoldStatus },
): Promise<void> {
  ledger?.release(partsOf(hold), hold.id);
  await WalletHold.end(trx, tenantId, [hold.id], { status, endedAt: now() });
}
