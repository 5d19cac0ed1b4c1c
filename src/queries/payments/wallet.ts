import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { readRecords } from '../../models/db/read-records.js';
import { balanceColumnsSql } from '../../models/balances/wallet-balance.js';
import { Wallet } from '../../models/payments/wallet.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/payments/wallet.js';
import { listRecords } from '../lists/resource-list.js';

type WalletDto = Static<typeof schema.Wallet>;

export const presentWallet = presenterOf(schema.Wallet);

export const missingWallet = (id: string) => problem.notFound(`There is no wallet '${id}'.`);

// Titles are unique among the wallets that exist, so they alone are an order.
const walletList = {
  model: Wallet,
  columns: balanceColumnsSql,
  orderBy: 'title',
  searched: ['title', 'customer_id'],
  filters: { accountId: 'account_id =' },
};

/** One page of wallets by title; `q` is part of the title or the customer id. */
export async function listWallets(
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
  filter: { readonly accountId?: string } = {},
): Promise<Listed<WalletDto>> {
  const { items, total } = await listRecords(walletList, scope, { page, q, filter });
  return { items: items.map(presentWallet), total };
}

const walletSql = `select ${balanceColumnsSql} from wallet
  where tenant_id = $1 and deleted_at is null and id = $2`;

/** A wallet by id. 404: there is none. */
export async function getWallet(scope: Scope, id: string): Promise<WalletDto> {
  const [wallet] = await readRecords(Wallet, scope.db.read, scope.tenantId, walletSql, [id]);
  if (!wallet) throw missingWallet(id);
  return presentWallet(wallet);
}
