import { Decimal, sum } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import { WalletHold } from '../../models/balances/wallet-hold.js';

export const missingHold = (id: string) => problem.notFound(`There is no hold '${id}'.`);

/** A hold. 404: there is none. */
export async function findHold({ db, tenantId }: Scope, id: string): Promise<WalletHold> {
  const hold = await WalletHold.query(db.read).forTenant(tenantId).findById(id);
  if (!hold) throw missingHold(id);
  return hold;
}

/** What a charge has drawn: of a hold, and of what was free. */
export async function sumDraws(
  { db, tenantId }: Scope,
  chargeId: string,
  holdId: string,
): Promise<{ readonly fromHold: Decimal; readonly fromBalance: Decimal }> {
  const draws = await WalletEntry.query(db.read)
    .forTenant(tenantId)
    .where({ chargeId, kind: 'draw' });
  const drawn = (isOfHold: boolean): Decimal =>
    sum(
      draws
        .filter((draw) => (draw.holdId === holdId) === isOfHold)
        .map(({ amount }) => new Decimal(amount).negated()),
    );
  return { fromHold: drawn(true), fromBalance: drawn(false) };
}
