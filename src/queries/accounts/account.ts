import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { readRecords } from '../../models/db/read-records.js';
import { Address } from '../../models/accounts/address.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/accounts/account.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { listPage } from '../lists/listing.js';
import { listRecords } from '../lists/resource-list.js';

type AccountSummaryDto = Static<typeof schema.AccountSummary>;
type AccountDto = Static<typeof schema.Account>;
type AddressDto = Static<typeof schema.Address>;

export const presentAddress = presenterOf(schema.Address);

/** The profile as it is answered; decimals are kept as texts. */
function presentProfile(profile: Account['profile']): AccountSummaryDto['profile'] {
  const { creditLimit, ...others } = profile;
  return {
    ...others,
    ...(typeof creditLimit === 'string' ? { creditLimit: new Decimal(creditLimit) } : {}),
  };
}

const presentColumns = presenterOf(schema.AccountSummary, ['profile']);

/** The account as a row shows it. */
export const presentAccountSummary = (account: Account): AccountSummaryDto => ({
  ...presentColumns(account),
  profile: presentProfile(account.profile),
});

function presentAccount(account: Account): AccountDto {
  return {
    ...presentAccountSummary(account),
    contactInfoList: account.contactInfoList as AccountDto['contactInfoList'],
    accountPaymentProfileList:
      account.accountPaymentProfileList as AccountDto['accountPaymentProfileList'],
    addresses: (account.addresses ?? []).map(presentAddress),
  };
}

/** The problem for a missing account, with the key that the request used. */
export const missingAccount = (key: string) => problem.notFound(`There is no account '${key}'.`);

/** Contacts and payment profiles may be long, and are not shown. */
const summaryColumns = `id, name, number, external_id, billing_day, is_master, net_term,
  default_currency, status, approval_status, gst, pan, cin, profile`;

const accountList = {
  model: Account,
  searched: ['name', 'number', 'external_id'],
  columns: summaryColumns,
};
const accountOrders = {
  name: 'name, id',
  // Ids rise with time: accounts created meanwhile come last, and shift no page
  // (docs/decisions/0277).
  created: 'id',
};

/** One page of accounts in an order; `q` is part of the name, number or external id. */
export async function listAccounts(
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
  order: keyof typeof accountOrders = 'name',
): Promise<Listed<AccountSummaryDto>> {
  const orderBy = accountOrders[order];
  const { items, total } = await listRecords({ ...accountList, orderBy }, scope, { page, q });
  return { items: items.map(presentAccountSummary), total };
}

const existingSql = `select ${summaryColumns} from account where tenant_id = $1 and deleted_at is null`;
const byId = { name: 'account by id', text: `${existingSql} and id = $2` };
const byExternalId = {
  name: 'account by external id',
  text: `${existingSql} and external_id = $2`,
};

/** The account as a row shows it, by id. */
export async function getAccountSummary(scope: Scope, id: string): Promise<AccountSummaryDto> {
  const { db, tenantId } = scope;
  const [account] = isUuid(id) ? await readRecords(Account, db.read, tenantId, byId, [id]) : [];
  if (!account) {
    const hint = isUuid(id) ? '' : ' An externalId is looked up with ?isExternal=true.';
    throw problem.notFound(`There is no account '${id}'.${hint}`);
  }
  return presentAccountSummary(account);
}

/** The account as a row shows it, by external id. */
export async function getAccountByExternalId(
  scope: Scope,
  externalId: string,
): Promise<AccountSummaryDto> {
  const { db, tenantId } = scope;
  const [account] = await readRecords(Account, db.read, tenantId, byExternalId, [externalId]);
  if (!account) throw missingAccount(externalId);
  return presentAccountSummary(account);
}

/** The whole account with its addresses, inside the transaction that wrote it. */
export async function getAccount(trx: Knex, tenantId: string, id: string): Promise<AccountDto> {
  const account = await Account.query(trx)
    .forTenant(tenantId)
    .existing()
    .findById(id)
    .withGraphFetched('addresses');
  if (!account) throw missingAccount(id);
  return presentAccount(account);
}

/** One page of an account's addresses, in their order. 404: there is no such account. */
export async function listAddresses(
  scope: Scope,
  accountId: string,
  page: PageRequest,
): Promise<Listed<AddressDto>> {
  await getAccountSummary(scope, accountId);
  const addresses = Address.query(scope.db.read)
    .forTenant(scope.tenantId)
    .existing()
    .where({ accountId })
    .orderBy([{ column: 'position' }, { column: 'id' }]);
  return listPage(addresses, page, presentAddress);
}

/** An address by id and account. 404: there is no such account or address. */
export async function getAddress(
  scope: Scope,
  accountId: string,
  addressId: string,
): Promise<AddressDto> {
  const address = await Address.query(scope.db.read)
    .forTenant(scope.tenantId)
    .existing()
    .findOne({ accountId, id: addressId });
  if (!address) throw problem.notFound(`There is no address '${addressId}'.`);
  return presentAddress(address);
}
