import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import { Account } from '../models/account.js';
import { Address } from '../models/address.js';
import { getAccount } from '../queries/account.js';
import type * as schema from '../schemas/account.js';

type AccountCreate = Static<typeof schema.AccountCreate>;
type AccountUpdate = Static<typeof schema.AccountUpdate>;
type AddressCreate = Static<typeof schema.AddressCreate>;
type AccountDto = Static<typeof schema.Account>;

/** Columns that may be null; the others keep their default when a caller sends null. */
function accountColumns(input: AccountUpdate) {
  const { addresses: _addresses, isMaster, contactInfoList, ...rest } = input;
  const { accountPaymentProfileList, name, ...optionalColumns } = rest;
  return {
    ...optionalColumns,
    ...(name === undefined ? {} : { name }),
    ...(isMaster === undefined ? {} : { isMaster: isMaster ?? false }),
    ...(contactInfoList === undefined ? {} : { contactInfoList: contactInfoList ?? [] }),
    ...(accountPaymentProfileList === undefined
      ? {}
      : { accountPaymentProfileList: accountPaymentProfileList ?? [] }),
  };
}

async function insertAddresses(
  trx: Knex.Transaction,
  scope: Scope,
  accountId: string,
  addresses: readonly AddressCreate[],
): Promise<void> {
  if (addresses.length === 0) return;
  await Address.query(trx)
    .forTenant(scope.tenantId)
    .insert(addresses.map((address, position) => ({ ...address, accountId, position })));
}

/** Creates an account with its addresses (document 1, section 4.3). 409: number or external id taken. */
export async function createAccount(scope: Scope, input: AccountCreate): Promise<AccountDto> {
  return scope.db.transaction(async (trx) => {
    const account = await Account.query(trx)
      .forTenant(scope.tenantId)
      .insert(accountColumns(input));
    await insertAddresses(trx, scope, account.id, input.addresses ?? []);
    return getAccount(trx, scope.tenantId, account.id);
  });
}

/** Changes what is given; `addresses`, when present, replaces the whole collection. */
export async function updateAccount(
  scope: Scope,
  id: string,
  input: AccountUpdate,
): Promise<AccountDto> {
  return scope.db.transaction(async (trx) => {
    const found = await Account.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .findById(id)
      .forUpdate();
    if (!found) throw problem.notFound(`There is no account '${id}'.`);
    const updatedAt = scope.now();
    await found
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ ...accountColumns(input), updatedAt });
    await Account.raiseRatingVersion(trx, scope.tenantId, [id]);
    if (input.addresses !== undefined) {
      await Address.query(trx)
        .forTenant(scope.tenantId)
        .existing()
        .where({ accountId: id })
        .patch({ deletedAt: updatedAt });
      await insertAddresses(trx, scope, id, input.addresses ?? []);
    }
    return getAccount(trx, scope.tenantId, id);
  });
}
