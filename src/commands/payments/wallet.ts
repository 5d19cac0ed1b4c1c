import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { Wallet } from '../../models/payments/wallet.js';
import { missingWallet, presentWallet } from '../../queries/payments/wallet.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/payments/wallet.js';
import { holdAccount } from '../accounts/hold-account.js';

type WalletCreate = Static<typeof schema.WalletCreate>;
type WalletUpdate = Static<typeof schema.WalletUpdate>;
type WalletDto = Static<typeof schema.Wallet>;

const defaults = {
  balance: '0',
  availableBalance: '0',
  reservedBalance: '0',
  frozenAmount: '0',
  thresholdTopUpAmount: '0',
  autoTopUpAmount: '0',
  enableDisableTopUp: false,
  // In a change null is refused (docs/decisions/0311).
  isActive: undefined,
};

/** Creates a wallet (spec/resources.md R78, R79). 400: no such account. 409: the title is taken. */
export async function createWallet(scope: Scope, input: WalletCreate): Promise<WalletDto> {
  return scope.db.transaction(async (trx) => {
    await holdAccount(trx, scope, input.accountId);
    const wallet = await Wallet.query(trx)
      .forTenant(scope.tenantId)
      .insert(columnsOf(schema.Wallet, input, defaults))
      .returning('*');
    return presentWallet(wallet);
  });
}

/** The existing wallet, held until the transaction ends. 404: there is none. */
async function lockWallet(trx: Knex.Transaction, scope: Scope, id: string): Promise<Wallet> {
  const wallet = await Wallet.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!wallet) throw missingWallet(id);
  return wallet;
}

/** Changes what is given. 400: no such account. 404: no such wallet. 409: the title is taken. */
export async function updateWallet(
  scope: Scope,
  id: string,
  input: WalletUpdate,
): Promise<WalletDto> {
  return scope.db.transaction(async (trx) => {
    const wallet = await lockWallet(trx, scope, id);
    if (input.accountId !== undefined) await holdAccount(trx, scope, input.accountId);
    const changed = await wallet
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ ...columnsOf(schema.Wallet, input, defaults), updatedAt: scope.now() })
      .returning('*');
    return presentWallet(changed as unknown as Wallet);
  });
}

/** Deletes a wallet; its title is free again. 404: there is none. */
export async function deleteWallet(scope: Scope, id: string): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const wallet = await lockWallet(trx, scope, id);
    await wallet.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  });
}
