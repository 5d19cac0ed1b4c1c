import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { prepareQuery } from '../../models/db/prepared-query.js';
import { Wallet } from '../../models/payments/wallet.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/payments/wallet.js';
import { prepareList } from '../lists/listing.js';

type WalletDto = Static<typeof schema.Wallet>;

export function presentWallet(wallet: Wallet): WalletDto {
  return {
    id: wallet.id,
    title: wallet.title,
    accountId: wallet.accountId,
    currency: wallet.currency,
    unit: wallet.unit,
    balance: new Decimal(wallet.balance),
    availableBalance: new Decimal(wallet.availableBalance),
    reservedBalance: new Decimal(wallet.reservedBalance),
    frozenAmount: new Decimal(wallet.frozenAmount),
    isActive: wallet.isActive,
    approvalStatus: wallet.approvalStatus,
    customerId: wallet.customerId,
    enableDisableTopUp: wallet.enableDisableTopUp,
    thresholdTopUpAmount: new Decimal(wallet.thresholdTopUpAmount),
    autoTopUpAmount: new Decimal(wallet.autoTopUpAmount),
  };
}

export const missingWallet = (id: string) => problem.notFound(`There is no wallet '${id}'.`);

// Titles are unique among the wallets that exist, so they alone are an order.
const walletList = prepareList(Wallet, {
  orderBy: ['title'],
  searched: ['title', 'customerId'],
  filters: { accountId: { column: 'accountId', operator: '=' } },
});

/** One page of wallets by title; `q` is part of the title or the customer id. */
export async function listWallets(
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
  filter: { readonly accountId?: string } = {},
): Promise<Listed<WalletDto>> {
  const { items, total } = await walletList(scope, page, q, filter);
  return { items: items.map(presentWallet), total };
}

const walletById = prepareQuery(Wallet, { id: 'text' }, (query, { id }) =>
  query.existing().findById(id),
);

/** A wallet by id. 404: there is none. */
export async function getWallet(scope: Scope, id: string): Promise<WalletDto> {
  const [wallet] = await walletById(scope.db.read, scope.tenantId, { id });
  if (!wallet) throw missingWallet(id);
  return presentWallet(wallet);
}
