import type { Static } from 'typebox';
import type { Days } from '../../kernel/time/billing-calendar.js';
import { dayBefore, utcDate } from '../../kernel/time/date.js';
import { periodOf } from '../../kernel/time/period.js';
import { newId } from '../../kernel/id.js';
import type { Scope } from '../../kernel/scope.js';
import type { UsageLogReader } from '../../messages/usage-log.js';
import { Account } from '../../models/accounts/account.js';
import { missingAccount } from '../../queries/accounts/account.js';
import { itemBytesMax } from '../../queries/billing/item-page.js';
import { countOpenUsage } from '../../queries/usage/left-out-usage.js';
import type * as schema from '../../schemas/billing/next-invoice.js';
import { billEach } from './bill-one-by-one.js';
import { presentBilledInvoices } from './billed-invoice.js';

/** The calendar month of a day. */
function monthOf(day: string): Days {
  const { start, end } = periodOf('Monthly', day);
  return { first: start, last: dayBefore(end) };
}

/** A fault is one of this request, which has no others to go on with. */
const thrown = (error: unknown): never => {
  throw error;
};

/**
 * What a billing run would bill an account now for the running calendar month, by the run's own
 * code (docs/decisions/0380). 404: there is no such account.
 */
export async function previewNextInvoice(
  scope: Scope,
  log: UsageLogReader,
  accountId: string,
): Promise<Static<typeof schema.NextInvoice>> {
  const { db, tenantId } = scope;
  const account = await Account.query(db.read)
    .forTenant(tenantId)
    .existing()
    .findById(accountId)
    .select('id');
  if (!account) throw missingAccount(accountId);
  const invoiceDate = utcDate(scope.now());
  const period = monthOf(invoiceDate);
  const run = {
    executionId: newId(),
    accountIds: [accountId],
    isNamed: true,
    isDryRun: true,
    period,
    invoiceDate,
  };
  const { invoices, problems, owed } = await billEach(scope, run, thrown);
  const { rejected, pending } = await countOpenUsage(scope, log, {
    periodStart: period.first,
    periodEnd: period.last,
    accountId,
  });
  // All of them share the bytes of one answer.
  const bytesMax = itemBytesMax / Math.max(invoices.length, 1);
  return {
    accountId,
    periodStart: period.first,
    periodEnd: period.last,
    invoiceDate,
    invoices: await presentBilledInvoices(invoices, bytesMax),
    rejected: [...rejected],
    pending,
    problems: [...problems],
    waiting: [...owed],
  };
}
