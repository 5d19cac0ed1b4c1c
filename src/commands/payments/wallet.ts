import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { WalletBalance } from '../../models/balances/wallet-balance.js';
import { Wallet } from '../../models/payments/wallet.js';
import { getWallet, missingWallet } from '../../queries/payments/wallet.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/payments/wallet.js';
import { holdAccount } from '../accounts/lock-account.js';
import { enterGrant, settleWallets, withCurrency } from '../balances/grant.js';

type WalletCreate = Static<typeof schema.WalletCreate>;
type WalletUpdate = Static<typeof schema.WalletUpdate>;
type WalletDto = Static<typeof schema.Wallet>;

const defaults = {
  frozenAmount: '0',
  thresholdTopUpAmount: '0',
  autoTopUpAmount: '0',
  enableDisableTopUp: false,
  // In a change null is refused (docs/decisions/0311).
  isActive: undefined,
};

/** What the ledger says (docs/decisions/0390). */
const computed = ['balance', 'availableBalance', 'reservedBalance'] as const;

/** What of a body is kept in the wallet's own row. */
const keptOf = <B extends WalletCreate | WalletUpdate>({
  balance: _balance,
  availableBalance: _available,
  reservedBalance: _reserved,
  ...kept
}: B) => kept;

/**
 * Creates a wallet (spec/resources.md R78, R79); its balance is its first grant, `opening`
 * (spec/beyond.md R261). 400: no such account. 409: the title is taken.
 */
export async function createWallet(scope: Scope, input: WalletCreate): Promise<WalletDto> {
  const balance = input.balance ?? ZERO;
  return scope.db.transaction(async (trx) => {
    await holdAccount(trx, scope, input.accountId);
    const wallet = await Wallet.query(trx)
      .forTenant(scope.tenantId)
      .insert(columnsOf(schema.Wallet, keptOf(input), defaults))
      .returning('*');
    if (balance.greaterThan(ZERO)) {
      const opening = { externalId: 'opening', amount: balance, kind: 'purchased' } as const;
      await enterGrant(trx, scope, await withCurrency(trx, scope, wallet), opening);
    }
    return getWallet(within(scope, trx), wallet.id);
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

/** The balance of a wallet that has had a grant, locked. */
const lockBalance = (trx: Knex.Transaction, scope: Scope, walletId: string) =>
  WalletBalance.query(trx).forTenant(scope.tenantId).findOne({ walletId }).forNoKeyUpdate();

/** 400: a body gives a number that only the ledger moves, and another one than it has. */
function refuseComputed(input: WalletUpdate, present: WalletDto): void {
  for (const name of computed) {
    const given: Decimal | null | undefined = input[name];
    if (given === undefined || given?.eq(present[name]) === true) continue;
    throw problem.validation(
      `'${name}' cannot be written: grants (POST /v1/wallets/{walletId}/grants), charges and holds move it`,
      { field: name },
    );
  }
}

/** 409: the wallet has had a grant, whose money is of its account and currency. */
function refuseOther(input: WalletUpdate, wallet: Wallet): void {
  for (const name of ['accountId', 'currency'] as const) {
    if (input[name] === undefined || input[name] === wallet[name]) continue;
    throw problem.conflict(`'${name}' of a wallet stays once it has had a grant.`, { field: name });
  }
}

/**
 * Changes what is given. 400: no such account, or a balance. 404: no such wallet. 409: the title is
 * taken, or account or currency of a wallet that has had a grant.
 */
export async function updateWallet(
  scope: Scope,
  id: string,
  input: WalletUpdate,
): Promise<WalletDto> {
  return scope.db.transaction(async (trx) => {
    const inner = within(scope, trx);
    const wallet = await lockWallet(trx, scope, id);
    const balance = await lockBalance(trx, scope, id);
    refuseComputed(input, await getWallet(inner, id));
    if (balance) refuseOther(input, wallet);
    if (input.accountId !== undefined) await holdAccount(trx, scope, input.accountId);
    await wallet
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ ...columnsOf(schema.Wallet, keptOf(input), defaults), updatedAt: scope.now() });
    const { isActive } = input;
    if (balance && isActive !== undefined) {
      await WalletBalance.query(trx)
        .forTenant(scope.tenantId)
        .where({ walletId: id })
        .patch({ isActive });
    }
    return getWallet(inner, id);
  });
}

/**
 * Deletes a wallet; its title is free again, and charges draw on it no more. 404: there is none. 409:
 * money of it is held.
 */
export async function deleteWallet(scope: Scope, id: string): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const wallet = await lockWallet(trx, scope, id);
    const balance = await lockBalance(trx, scope, id);
    if (balance && new Decimal(balance.held).greaterThan(ZERO)) {
      throw problem.conflict('Money of the wallet is held: release the holds first.');
    }
    await wallet.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
    if (!balance) return;
    await WalletBalance.query(trx)
      .forTenant(scope.tenantId)
      .where({ walletId: id })
      .patch({ isActive: false });
  });
}

/** A wallet with its balance of now. 404: there is none. */
export async function readWallet(scope: Scope, id: string): Promise<WalletDto> {
  await settleWallets(scope, [id]);
  return getWallet(scope, id);
}
