import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { findAccountsOf } from '../../queries/access/embedded-record.js';
import type { Operation } from '../../schemas/http/operation.js';

/** The parameters of a request, whose natural keys are resolved. */
interface Limited {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
}

/**
 * Limits a request with the token of an embed to its account (docs/decisions/0384): lists get it as
 * their filter, and a record of any other account does not exist. 403: a filter names another account.
 */
export async function limitToAccount(
  scope: Scope,
  { embed }: Operation,
  { params, query }: Limited,
  accountId: string,
): Promise<void> {
  if (!embed) throw problem.forbidden('This operation is not for embeds.');
  if ('filter' in embed) {
    const asked = query[embed.filter];
    if (asked !== undefined && asked !== accountId) {
      throw problem.forbidden('This token is for another account.', { field: embed.filter });
    }
    query[embed.filter] = accountId;
    return;
  }
  const key = String(params[embed.param]);
  const owners = await findAccountsOf(scope, embed.record, key);
  if (owners.length > 0 && owners.every((owner) => owner === accountId)) return;
  const name = embed.record.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  throw problem.notFound(`There is no ${name} '${key}'.`);
}
