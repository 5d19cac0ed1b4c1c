import { isUuid } from '../../kernel/id.js';
import type { Scope } from '../../kernel/scope.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type { EmbeddedRecord } from '../../schemas/http/operation.js';
import { findUsageEvent } from '../usage/usage-event.js';

const tables = {
  invoice: 'invoice',
  payment: 'payment',
  ratedTransaction: 'rated_transaction',
} as const;

/** Who uses and who is billed: a partner who is owed a part of an event is nobody else's business. */
async function accountsOfEvent(scope: Scope, key: string): Promise<(string | null)[]> {
  const { db, tenantId } = scope;
  const event = await findUsageEvent(scope, key);
  if (!event) return [];
  const charges = await RatedTransaction.ofEvents(db.read, tenantId, [event.id]);
  return [event.accountId, ...(charges.get(event.id) ?? []).map((charge) => charge.accountId)];
}

/** The accounts that a record is about; none: there is no such record. */
export async function findAccountsOf(
  scope: Scope,
  record: EmbeddedRecord,
  key: string,
): Promise<readonly (string | null)[]> {
  if (record === 'usageEvent') return accountsOfEvent(scope, key);
  if (!isUuid(key)) return [];
  const rows = await sqlRows<{ accountId: string }>(
    scope.db.read,
    `select account_id as "accountId" from ${tables[record]} where tenant_id = ? and id = ?`,
    [scope.tenantId, key],
  );
  return rows.map(({ accountId }) => accountId);
}
