import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { decimalText, ZERO, type Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { Wallet } from '../../models/payments/wallet.js';
import { missingWallet, presentWallet } from '../../queries/payments/wallet.js';
import type * as schema from '../../schemas/payments/wallet.js';
import { holdAccount } from '../accounts/hold-account.js';

type WalletCreate = Static<typeof schema.WalletCreate>;
type WalletUpdate = Static<typeof schema.WalletUpdate>;
type WalletDto = Static<typeof schema.Wallet>;

const amountNames = [
  'balance',
  'availableBalance',
  'reservedBalance',
  'frozenAmount',
  'thresholdTopUpAmount',
  'autoTopUpAmount',
] as const;
type AmountName = (typeof amountNames)[number];

/** The amounts that are given, as columns; null is 0. */
function amountColumns(input: { readonly [K in AmountName]?: Decimal | null }) {
  const columns: { [K in AmountName]?: string } = {};
  for (const name of amountNames) {
    const amount = input[name];
    if (amount !== undefined) columns[name] = decimalText(amount ?? ZERO);
  }
  return columns;
}

/**
 * The columns that are given. A new wallet whose `isActive` is null gets the default of the column;
 * in a change null is refused (docs/decisions/0311).
 */
function walletColumns(input: WalletCreate | WalletUpdate) {
  const { title, accountId, currency, unit, customerId, isActive, enableDisableTopUp } = input;
  return {
    ...amountColumns(input),
    ...defined({ title, accountId, currency, unit, customerId, isActive: isActive ?? undefined }),
    ...(enableDisableTopUp === undefined
      ? {}
      : { enableDisableTopUp: enableDisableTopUp ?? false }),
  };
}

/** Creates a wallet (spec/resources.md R78, R79). 400: no such account. 409: the title is taken. */
export async function createWallet(scope: Scope, input: WalletCreate): Promise<WalletDto> {
  return scope.db.transaction(async (trx) => {
    await holdAccount(trx, scope, input.accountId);
    const wallet = await Wallet.query(trx)
      .forTenant(scope.tenantId)
      .insert(walletColumns(input))
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
      .patch({ ...walletColumns(input), updatedAt: scope.now() })
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
