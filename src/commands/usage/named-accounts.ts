import type { Knex } from 'knex';
import { sqlRows } from '../../models/db/sql-rows.js';
import type { ReadMessage } from '../../queries/usage/usage-message.js';
import type { Outcome, UsageRater } from '../../queries/usage/usage-rater.js';

/**
 * Rates messages with the accounts that they name: of events these are among their facts, of what is none
 * they are asked for here, in one statement, so that it is found where people look for it.
 */
export async function nameAccounts(
  db: Knex,
  tenantId: string,
  rater: UsageRater,
  candidates: readonly { readonly message: ReadMessage }[],
): Promise<{
  /** The account that a message names, if there is one. */
  readonly accountOf: (message: ReadMessage) => string | null;
  readonly rate: (message: ReadMessage) => Outcome;
}> {
  const refs = candidates.flatMap(({ message: { read, accountRef } }) =>
    read.ok ? [] : (accountRef ?? []),
  );
  const rows =
    refs.length === 0
      ? []
      : await sqlRows<{ readonly externalId: string; readonly id: string }>(
          db,
          `select external_id as "externalId", id from account
           where tenant_id = :tenantId and external_id = any(:refs) and deleted_at is null`,
          { tenantId, refs: [...new Set(refs)] },
        );
  const ids = new Map(rows.map(({ externalId, id }) => [externalId, id]));
  const accountOf = ({ read, accountRef }: ReadMessage): string | null =>
    read.ok ? rater.accountOf(read) : (ids.get(accountRef ?? '') ?? null);
  return {
    accountOf,
    rate(message) {
      const outcome = rater.rate(message.read);
      return message.read.ok || outcome.status === 'rated'
        ? outcome
        : { ...outcome, accountId: accountOf(message) };
    },
  };
}
