import { isUuid } from '../kernel/id.js';
import { problem } from '../kernel/problem.js';
import type { Scope } from '../kernel/scope.js';
import { findByNaturalKeys } from '../queries/natural-key.js';

type AccountMap = Readonly<Record<string, unknown>>;

/** A larger object is none of shares: a line is shared by at most so many accounts. */
const namesMax = 1000;

/**
 * Who bears the charges of a line, by the ids of the accounts: each may be named by its externalId or
 * number, too. Where a name is no account the object is kept as it was sent, without effect
 * (docs/decisions/0244). 400: an account is named twice.
 */
export async function withAccountIds(
  scope: Scope,
  map: AccountMap,
  at: string,
): Promise<AccountMap> {
  const names = Object.keys(map);
  const keys = names.filter((name) => !isUuid(name));
  if (keys.length === 0 || names.length > namesMax) return map;
  const ids = await findByNaturalKeys(scope, 'account', keys);
  if (!keys.every((key) => ids.has(key))) return map;
  const byId = new Map<string, unknown>();
  for (const [name, weight] of Object.entries(map)) {
    const id = ids.get(name) ?? name.toLowerCase();
    if (byId.has(id)) {
      const field = `${at}accountMap.${name}`;
      throw problem.validation(`'${field}' names the account '${id}' a second time`, {
        ...{ field, value: name },
      });
    }
    byId.set(id, weight);
  }
  return Object.fromEntries(byId);
}
