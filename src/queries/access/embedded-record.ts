import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import type { EmbeddedRecord } from '../../schemas/http/operation.js';
import type { RatedTransactionSummaryDto } from '../usage/rated-transaction.js';
import { findUsageEvent, type UsageEventDto } from '../usage/usage-event.js';

const tables = {
  invoice: 'invoice',
  payment: 'payment',
  ratedTransaction: 'rated_transaction',
} as const;

/** The accounts that a record is about, of an event the one that used it; none: there is no such record. */
export async function findAccountsOf(
  scope: Scope,
  record: EmbeddedRecord,
  key: string,
): Promise<readonly (string | null)[]> {
  if (record === 'usageEvent') return [(await findUsageEvent(scope, key))?.accountId ?? null];
  if (!isUuid(key)) return [];
  const rows = await sqlRows<{ accountId: string }>(
    scope.db.read,
    `select account_id as "accountId" from ${tables[record]} where tenant_id = ? and id = ?`,
    [scope.tenantId, key],
  );
  return rows.map(({ accountId }) => accountId);
}

const sharedNote =
  'Others are billed for it or owed a part: its message and how its charges came about are not shown.';

/**
 * An event as whoever asks may read it: with the token of an embed one that its account used, and of the
 * charges those of the account. What else an event has names the others that have charges of it, and is
 * left out (spec/beyond.md R450). 404: it was another account's at the instant that is asked for.
 */
export function limitReceipt(
  { embeddedAccountId: accountId }: Scope,
  key: string,
  event: UsageEventDto,
): UsageEventDto {
  if (accountId === undefined) return event;
  if (event.accountId !== accountId) throw problem.notFound(`There is no usage event '${key}'.`);
  const own = event.ratedTransactions.filter((charge) => charge.accountId === accountId);
  if (own.length === event.ratedTransactions.length) return event;
  return {
    ...event,
    message: null,
    messageNote: sharedNote,
    ratedTransactions: own.map((charge) => ({ ...charge, explanation: null })),
  };
}

/**
 * A charge as whoever asks may read it: with the token of an embed it says of usage of other accounts
 * neither whose it was, nor by which event and contract it came (spec/beyond.md R455).
 */
export const limitCharge = <T extends RatedTransactionSummaryDto>(
  { embeddedAccountId }: Scope,
  charge: T,
): T =>
  embeddedAccountId === undefined || charge.masterAccountId === embeddedAccountId
    ? charge
    : {
        ...charge,
        externalTranId: null,
        masterAccountId: null,
        serviceInstanceId: null,
        contractId: null,
      };
