import type { Knex } from 'knex';
import { Type, type Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { Address } from '../../models/accounts/address.js';
import { Contract } from '../../models/contracts/contract.js';
import { Invoice } from '../../models/billing/invoice.js';
import { Payment } from '../../models/payments/payment.js';
import { Wallet } from '../../models/payments/wallet.js';
import {
  getAccount,
  missingAccount,
  presentAccountSummary,
  presentAddress,
} from '../../queries/accounts/account.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/accounts/account.js';
import { requireSameId } from '../rules/same-id.js';
import { requireAddressesFit } from '../rules/size-limits.js';
import { sqlRows } from '../../models/db/sql-rows.js';

type AccountCreate = Static<typeof schema.AccountCreate>;
type AccountUpdate = Static<typeof schema.AccountUpdate>;
type AddressCreate = Static<typeof schema.AddressCreate>;
type AddressUpdate = Static<typeof schema.AddressUpdate>;
type TaxLabels = Static<typeof schema.TaxLabels>;
type AccountDto = Static<typeof schema.Account>;
type AccountSummaryDto = Static<typeof schema.AccountSummary>;
type AddressDto = Static<typeof schema.Address>;

const Columns = Type.Omit(schema.Account, ['profile', 'addresses']);
const accountColumns = (input: AccountUpdate) =>
  columnsOf(Columns, input, {
    isMaster: false,
    contactInfoList: [],
    accountPaymentProfileList: [],
  });

/** The profile after a change: given fields replace stored ones, null removes a field. */
function changedProfile(
  known: Account['profile'],
  given: AccountUpdate['profile'],
): Account['profile'] {
  if (given === null) return {};
  const merged = Object.entries({ ...known, ...given });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

/** The existing account, held until the transaction ends. 404: there is none. */
async function lockAccount(trx: Knex.Transaction, scope: Scope, id: string): Promise<Account> {
  const account = await Account.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!account) throw missingAccount(id);
  return account;
}

/** `accountId` is null for an account that has no id yet; then a body may not name an account. */
function addressColumns(
  { accountId: given, ...columns }: AddressUpdate,
  accountId: string | null,
  field: string,
) {
  requireSameId(field, given, accountId);
  return columns;
}

function nestedAddressColumns(addresses: readonly AddressCreate[], accountId: string | null) {
  return addresses.map((address, index) => ({
    ...addressColumns(address, accountId, `addresses[${index}].accountId`),
    position: index,
  }));
}

type AddressColumns = ReturnType<typeof nestedAddressColumns>[number];

async function insertAddresses(
  trx: Knex.Transaction,
  scope: Scope,
  accountId: string,
  addresses: readonly AddressColumns[],
): Promise<void> {
  const rows = addresses.map((address) => ({ ...address, accountId }));
  await Address.insertAll(trx, scope.tenantId, rows);
}

async function deleteAddresses(
  trx: Knex.Transaction,
  scope: Scope,
  accountId: string,
): Promise<void> {
  await Address.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where({ accountId })
    .patch({ deletedAt: scope.now() });
}

/**
 * Creates an account with its addresses (spec/resources.md R27, R28); a flow gives it the id of its
 * execution. 409: number or external id taken.
 */
export async function createAccount(
  scope: Scope,
  input: AccountCreate,
  id?: string,
): Promise<AccountDto> {
  const addresses = nestedAddressColumns(input.addresses ?? [], null);
  return scope.db.transaction(async (trx) => {
    const account = await Account.query(trx)
      .forTenant(scope.tenantId)
      .insert({
        ...defined({ id }),
        ...accountColumns(input),
        profile: changedProfile({}, input.profile),
      });
    await insertAddresses(trx, scope, account.id, addresses);
    return getAccount(trx, scope.tenantId, account.id);
  });
}

/** Patches a locked account. */
async function changeAccount(
  trx: Knex.Transaction,
  scope: Scope,
  account: Account,
  columns: Partial<Account>,
): Promise<void> {
  await account
    .$query(trx)
    .forTenant(scope.tenantId)
    .patch({ ...columns, updatedAt: scope.now() });
}

/**
 * Changes what is given; `addresses`, when present, replaces the whole collection. 400: an address
 * names another account. 404: there is no such account. 409: number or external id taken.
 */
export async function updateAccount(
  scope: Scope,
  id: string,
  input: AccountUpdate,
): Promise<AccountDto> {
  return scope.db.transaction(async (trx) => {
    const account = await lockAccount(trx, scope, id);
    await changeAccount(trx, scope, account, {
      ...accountColumns(input),
      ...(input.profile === undefined
        ? {}
        : { profile: changedProfile(account.profile, input.profile) }),
    });
    if (input.addresses !== undefined) {
      await deleteAddresses(trx, scope, account.id);
      const addresses = nestedAddressColumns(input.addresses ?? [], account.id);
      await insertAddresses(trx, scope, account.id, addresses);
    }
    return getAccount(trx, scope.tenantId, account.id);
  });
}

/** Patches an account by id and returns it as a row shows it. 404: there is none. */
async function patchAccount(
  scope: Scope,
  id: string,
  columns: Partial<Account>,
): Promise<AccountSummaryDto> {
  return scope.db.transaction(async (trx) => {
    const account = await lockAccount(trx, scope, id);
    await changeAccount(trx, scope, account, columns);
    return presentAccountSummary(account);
  });
}

/** Sets the account Active (spec/resources.md R30), whatever it was before. */
export async function activateAccount(scope: Scope, id: string): Promise<AccountSummaryDto> {
  return patchAccount(scope, id, { status: 'Active' });
}

/** Sets the account Inactive: its usage is rejected from now on (spec/rating.md R6). */
export async function deactivateAccount(scope: Scope, id: string): Promise<AccountSummaryDto> {
  return patchAccount(scope, id, { status: 'Inactive' });
}

const taxLabelNames = ['gst', 'pan', 'cin'] as const;

/** The value of a label under its name or its alias. 400: both are given and differ. */
function taxLabel(input: TaxLabels, name: (typeof taxLabelNames)[number]) {
  const alias = name.toUpperCase() as Uppercase<typeof name>;
  const [value, aliasValue] = [input[name], input[alias]];
  if (value !== undefined && aliasValue !== undefined && value !== aliasValue) {
    throw problem.validation(`'${name}' and '${alias}' name one tax number and differ`, {
      field: name,
    });
  }
  return value === undefined ? aliasValue : value;
}

/** Sets the tax numbers that are given; null clears one (spec/resources.md R31). */
export async function setTaxLabels(
  scope: Scope,
  id: string,
  input: TaxLabels,
): Promise<AccountSummaryDto> {
  const columns: Partial<Account> = {};
  for (const name of taxLabelNames) {
    const value = taxLabel(input, name);
    if (value !== undefined) columns[name] = value;
  }
  return patchAccount(scope, id, columns);
}

/** Refuses to delete an account that other records name (spec/resources.md R34). 409. */
async function requireUnused(trx: Knex.Transaction, scope: Scope, account: Account): Promise<void> {
  const contract = await Contract.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findOne({ masterAccountId: account.id });
  if (contract) {
    throw problem.conflict(`The account has contracts, such as '${contract.number}'.`);
  }
  const payment = await Payment.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findOne({ accountId: account.id });
  if (payment) {
    throw problem.conflict(`The account has payments, such as '${payment.paymentReference}'.`);
  }
  const wallet = await Wallet.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findOne({ accountId: account.id });
  if (wallet) throw problem.conflict(`The account has wallets, such as '${wallet.title}'.`);
  const shared = await sqlRows<{ number: string }>(
    trx,
    `select contract.number from account_share as share
     join contract_service as line
       on line.tenant_id = share.tenant_id and line.id = share.contract_service_id
     join contract on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
     where share.tenant_id = ? and share.account_id = ? order by 1 limit 1`,
    [scope.tenantId, account.id],
  );
  const [share] = shared;
  if (share) {
    throw problem.conflict(`The account bears a share of contracts, such as '${share.number}'.`);
  }
  const invoice = await Invoice.query(trx)
    .forTenant(scope.tenantId)
    .findOne({ accountId: account.id });
  if (invoice) {
    throw problem.conflict(`The account has invoices, such as '${invoice.invoiceNo}'.`);
  }
}

/** Deletes an account after its addresses. 404: there is none. 409: it is used. */
export async function deleteAccount(scope: Scope, id: string): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const account = await lockAccount(trx, scope, id);
    await requireUnused(trx, scope, account);
    await deleteAddresses(trx, scope, account.id);
    await changeAccount(trx, scope, account, { deletedAt: scope.now() });
  });
}

async function lockAddress(
  trx: Knex.Transaction,
  scope: Scope,
  accountId: string,
  addressId: string,
): Promise<Address> {
  const address = await Address.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findOne({ accountId, id: addressId })
    .forUpdate();
  if (!address) throw problem.notFound(`There is no address '${addressId}'.`);
  return address;
}

/** Adds an address after the others. 400: another account is named. 404: no such account. 409: too many. */
export async function createAddress(
  scope: Scope,
  accountId: string,
  input: AddressCreate,
): Promise<AddressDto> {
  return scope.db.transaction(async (trx) => {
    const account = await lockAccount(trx, scope, accountId);
    const last = await Address.query(trx)
      .forTenant(scope.tenantId)
      .where({ accountId: account.id })
      .orderBy('position', 'desc')
      .first();
    const address = await Address.query(trx)
      .forTenant(scope.tenantId)
      .insert({
        ...addressColumns(input, account.id, 'accountId'),
        accountId: account.id,
        position: (last?.position ?? -1) + 1,
      })
      .returning('*');
    await requireAddressesFit(trx, scope, account.id);
    return presentAddress(address);
  });
}

/** Changes what is given. 400: the body names another account. 404: no such account or address. */
export async function updateAddress(
  scope: Scope,
  accountId: string,
  addressId: string,
  input: AddressUpdate,
): Promise<AddressDto> {
  return scope.db.transaction(async (trx) => {
    const account = await lockAccount(trx, scope, accountId);
    const address = await lockAddress(trx, scope, account.id, addressId);
    await address
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ ...addressColumns(input, account.id, 'accountId'), updatedAt: scope.now() });
    return presentAddress(address);
  });
}

/** Deletes an address. 404: no such account or address. */
export async function deleteAddress(
  scope: Scope,
  accountId: string,
  addressId: string,
): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const account = await lockAccount(trx, scope, accountId);
    const address = await lockAddress(trx, scope, account.id, addressId);
    await address.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  });
}
