import type { Static } from 'typebox';
import { Decimal, sum } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { WalletEntry } from '../../models/balances/wallet-entry.js';
import { WalletHold } from '../../models/balances/wallet-hold.js';
import type { Hold, RunningHold } from '../../schemas/balances/hold.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { listPage } from '../lists/listing.js';
import { requireAccount } from './account-balance.js';

export const missingHold = (id: string) => problem.notFound(`There is no hold '${id}'.`);

/** A hold. 404: there is none. */
export async function findHold({ db, tenantId }: Scope, id: string): Promise<WalletHold> {
  const hold = await WalletHold.query(db.read).forTenant(tenantId).findById(id);
  if (!hold) throw missingHold(id);
  return hold;
}

type Presented = 'id' | 'accountId' | 'currency' | 'amount' | 'key' | 'status' | 'expiresAt';

/** A hold as the API shows it, but for what is available beside it. */
export const presentHold = (
  hold: Pick<WalletHold, Presented>,
): Omit<Static<typeof Hold>, 'available'> => {
  const { id, accountId, currency, amount, key, status, expiresAt } = hold;
  return {
    id,
    accountId,
    currency,
    amount: new Decimal(amount),
    key,
    status,
    expiresAt: expiresAt.toISOString(),
  };
};

const presentRunning = (hold: WalletHold): Static<typeof RunningHold> => ({
  ...presentHold(hold),
  createdAt: hold.createdAt.toISOString(),
});

/** What is held of an account at this moment (spec/beyond.md R492). 404: there is no such account. */
export async function listHolds(
  scope: Scope,
  accountId: string,
  page: PageRequest,
): Promise<Listed<Static<typeof RunningHold>>> {
  await requireAccount(scope, accountId);
  const query = WalletHold.query(scope.db.read)
    .forTenant(scope.tenantId)
    .where({ accountId })
    .where('releaseAt', '>', scope.now())
    .orderBy(['releaseAt', 'id']);
  return listPage(query, page, presentRunning);
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
