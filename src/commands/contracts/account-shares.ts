import { isUuid } from '../../kernel/id.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { findByNaturalKeys } from '../../queries/keys/find-by-natural-key.js';

type AccountMap = Readonly<Record<string, unknown>>;

/** Objects with more names are not read as shares: at most this many accounts share a line. */
const namesMax = 1000;

/** The same form of a weight as `read_account_shares` accepts in the database. */
const weightForm = /^[0-9]{1,38}(?:\.[0-9]{1,38})?$/;

function isWeight(value: unknown): boolean {
  const isNumber = typeof value === 'number' || value instanceof Decimal;
  const text = isNumber ? new Decimal(value).toFixed() : value;
  return typeof text === 'string' && weightForm.test(text) && !new Decimal(text).isZero();
}

/** The accounts that are named, by id, externalId or number. */
async function findAccounts(
  scope: Scope,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const uuids = names.filter((name) => isUuid(name)).map((name) => name.toLowerCase());
  const found = uuids.length
    ? await Account.query(scope.db.read)
        .forTenant(scope.tenantId)
        .existing()
        .whereRaw('id = any(?::uuid[])', [uuids])
        .select('id')
    : [];
  const ids = new Set(found.map(({ id }) => id));
  const keys = names.filter((name) => !isUuid(name));
  const byKey = keys.length === 0 ? new Map() : await findByNaturalKeys(scope, 'account', keys);
  return new Map([
    ...byKey,
    ...names.filter((name) => ids.has(name.toLowerCase())).map((id) => [id, id.toLowerCase()]),
  ] as [string, string][]);
}

const fault = (field: string, text: string, value: unknown): Problem =>
  problem.validation(`'${field}' ${text}`, { field, value });

/**
 * The shares of a line's charges by account id; a request may name accounts by externalId or
 * number, too. An object in which no name is an account is not a list of shares and is stored as
 * sent (docs/decisions/0244, 0275). 400: some names are accounts and others are not, an account is
 * named twice, or a value is no weight.
 */
export async function withAccountIds(
  scope: Scope,
  map: AccountMap,
  at: string,
): Promise<AccountMap> {
  const names = Object.keys(map);
  if (names.length === 0 || names.length > namesMax) return map;
  const ids = await findAccounts(scope, names);
  if (ids.size === 0) return map;
  const byId = new Map<string, unknown>();
  for (const [name, weight] of Object.entries(map)) {
    const field = `${at}accountMap.${name}`;
    const id = ids.get(name);
    if (id === undefined) throw fault(field, `names no account: '${name}'`, name);
    if (byId.has(id)) throw fault(field, `names the account '${id}' a second time`, name);
    if (!isWeight(weight)) throw fault(field, 'must be a weight: a number above 0', weight);
    byId.set(id, weight);
  }
  return Object.fromEntries(byId);
}
