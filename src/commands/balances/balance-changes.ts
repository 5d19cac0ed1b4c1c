import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { topUpWallets } from './top-up.js';
import { countBalances } from './trigger-alerts.js';

/** A wallet whose balance has moved. */
interface BalanceChange {
  readonly walletId: string;
  readonly accountId: string;
  readonly currency: string | null;
  readonly before: Decimal;
  readonly after: Decimal;
}

/**
 * How the balances of wallets have moved in a transaction, however often its ledgers were written: what a
 * correction takes and gives back on its way is no fall that alerts or top-ups are for.
 */
export class BalanceChanges {
  readonly #changes = new Map<string, BalanceChange>();

  add(change: BalanceChange): void {
    const before = this.#changes.get(change.walletId)?.before ?? change.before;
    this.#changes.set(change.walletId, { ...change, before });
  }

  /** Triggers what falling balances lead to: alerts and top-ups. */
  async settle(trx: Knex.Transaction, origin: Pick<Scope, 'tenantId' | 'now'>): Promise<void> {
    const wallets = [...this.#changes.values()].filter(({ before, after }) => !before.eq(after));
    await countBalances(trx, origin, wallets);
    await topUpWallets(trx, origin, wallets);
  }
}
