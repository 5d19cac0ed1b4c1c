import type { Knex } from 'knex';
import {
  outputListMax,
  type BillingProblem,
  type BillingRunInput,
  type BillingRunStart,
  type Draft,
} from '../../../messages/billing-run.js';
import { Decimal } from '../../../kernel/numbers/money.js';
import { mapInPortions } from '../../../kernel/portions.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { parseStoredJson } from '../../../kernel/text/json.js';
import { Account } from '../../../models/accounts/account.js';
import { sqlRows } from '../../../models/db/sql-rows.js';

/** Accounts that may have something to bill: usage, contract lines, shares of lines, rows that bill them, or minimums. */
const candidatesSql = `
  from account
  where account.tenant_id = :tenantId and account.deleted_at is null
    and (:accountId::uuid is null or account.id = :accountId)
    and (
      exists (
        select from rated_transaction as t
        where t.tenant_id = account.tenant_id and t.account_id = account.id
          and t.transaction_date <= :until::date and t.transaction_date > coalesce((
            select known.billed_until from billed_usage as known
            where known.tenant_id = account.tenant_id and known.account_id = account.id
          ), '-infinity')
      ) or exists (
        select from unbilled_usage as late
        where late.tenant_id = account.tenant_id and late.account_id = account.id
          and late.transaction_date <= :until::date
      ) or exists (
        select from contract join contract_service as line
          on line.tenant_id = contract.tenant_id and line.contract_id = contract.id
        where contract.tenant_id = account.tenant_id and contract.master_account_id = account.id
          and contract.deleted_at is null and line.deleted_at is null
      ) or exists (
        select from account_share as share
        where share.tenant_id = account.tenant_id and share.account_id = account.id
      ) or exists (
        select from rate_card_row as row
        where row.tenant_id = account.tenant_id and row.billing_account_id = account.id
          and row.deleted_at is null
      ) or exists (
        select from adjustment
        where adjustment.tenant_id = account.tenant_id and adjustment.account_id = account.id
          and adjustment.deleted_at is null and adjustment.period is not null
      ) or exists (
        select from contract join adjustment
          on adjustment.tenant_id = contract.tenant_id and adjustment.contract_id = contract.id
        where contract.tenant_id = account.tenant_id and contract.master_account_id = account.id
          and contract.deleted_at is null and adjustment.deleted_at is null
          and adjustment.period is not null
      )
    )`;

const bindingsOf = (tenantId: string, { accountId, periodEnd }: BillingRunInput) => ({
  tenantId,
  accountId: accountId ?? null,
  until: periodEnd,
});

/** Counts the candidate accounts of a billing run. 400: the named account does not exist. */
export async function beginBillingRun(
  { db, tenantId }: Scope,
  input: BillingRunInput,
  invoiceDate: string,
): Promise<Omit<BillingRunStart, 'sizes'>> {
  if (input.accountId !== undefined) {
    const account = await Account.query(db.read)
      .forTenant(tenantId)
      .existing()
      .findById(input.accountId)
      .select('id');
    if (!account) {
      throw problem.validation(`'accountId' names no account: '${input.accountId}'`, {
        field: 'accountId',
        value: input.accountId,
      });
    }
  }
  const rows = await sqlRows<{ count: string }>(
    db.read,
    `select count(*) ${candidatesSql}`,
    bindingsOf(tenantId, input),
  );
  return { accountCount: Number(rows[0]?.count), invoiceDate };
}

/** A page of accounts, by keyset paging. */
export interface BillingAccountsPage {
  readonly afterId: string | null;
  readonly limit: number;
}

/** The next accounts that may have something to bill, by id. */
export async function listBillingAccounts(
  { db, tenantId }: Scope,
  input: BillingRunInput,
  { afterId, limit }: BillingAccountsPage,
): Promise<string[]> {
  const rows = await sqlRows<{ id: string }>(
    db.read,
    `select id ${candidatesSql} and (:afterId::uuid is null or account.id > :afterId)
     order by id limit :limit`,
    { ...bindingsOf(tenantId, input), afterId, limit },
  );
  return rows.map(({ id }) => id);
}

/** The result of a run after all accounts are billed. */
export interface BillingRunEnd {
  readonly executionId: string;
  readonly input: BillingRunInput;
  readonly invoiceDate: string;
  readonly accountsDone: number;
  /** Number of invoices; of a dry run, how many there would be. */
  readonly invoices: number;
  readonly problemCount: number;
  readonly problems: readonly BillingProblem[];
  readonly drafts: readonly Draft[];
}

interface TotalRow {
  readonly invoiceType: string;
  readonly currency: string;
  readonly count: number;
  readonly transactions: number;
  readonly amount: string;
  readonly taxAmount: string;
}

const readDraft = (draft: Draft): object =>
  typeof draft === 'string' ? (parseStoredJson(draft) as object) : draft;

/**
 * The output of a billing run, counted from its invoices, so that repeated steps do not count
 * twice. `openUsage` is the usage that the run left out.
 */
export async function summarizeBillingRun(
  db: Knex,
  tenantId: string,
  { executionId, input, invoiceDate, ...end }: BillingRunEnd,
  openUsage: readonly BillingProblem[],
) {
  const isDryRun = input.dryRun === true;
  const run = {
    periodStart: input.periodStart,
    periodEnd: input.periodEnd,
    invoiceDate,
    dryRun: isDryRun,
    accountCount: end.accountsDone,
  };
  const rest = {
    problemCount: end.problemCount + openUsage.length,
    // Problems that concern all accounts come first, so that the list's limit does not cut them
    // off.
    problems: [...openUsage, ...end.problems].slice(0, outputListMax),
  };
  if (isDryRun) {
    const invoices = await mapInPortions(end.drafts, readDraft);
    return { ...run, invoiceCount: end.invoices, invoices, ...rest };
  }
  const rows = await sqlRows<TotalRow>(
    db,
    `select invoice_type as "invoiceType", currency, count(*)::integer as "count",
       sum(transaction_count)::integer as "transactions", sum(amount) as "amount",
       sum(tax_amount) as "taxAmount"
     from invoice where tenant_id = ? and execution_id = ? group by 1, 2 order by 1 desc, 2`,
    [tenantId, executionId],
  );
  const ids = await sqlRows<{ id: string }>(
    db,
    `select id from invoice where tenant_id = ? and execution_id = ?
     order by invoice_no, id limit ${outputListMax}`,
    [tenantId, executionId],
  );
  return {
    ...run,
    invoiceCount: rows.reduce((sum, { count }) => sum + count, 0),
    transactionCount: rows.reduce((sum, { transactions }) => sum + transactions, 0),
    totals: rows.map(({ transactions: _transactions, amount, taxAmount, ...total }) => ({
      ...total,
      amount: new Decimal(amount),
      taxAmount: new Decimal(taxAmount),
    })),
    invoiceIds: ids.map(({ id }) => id),
    ...rest,
  };
}

/** What a run says of itself at its end, in numbers. */
export interface RunCounts {
  readonly accountCount: number;
  readonly invoiceCount: number;
  readonly problemCount: number;
  /** Each event that is left out counts, and each problem of none. */
  readonly leftOutCount: number;
}

/** The numbers of an output. Events that are left out come first among its problems: none is cut off. */
export function countsOf({
  accountCount,
  invoiceCount,
  problemCount,
  problems,
}: Omit<RunCounts, 'leftOutCount'> & {
  readonly problems: readonly BillingProblem[];
}): RunCounts {
  const leftOutCount = problems.reduce((sum, { events = 1 }) => sum + events - 1, problemCount);
  return { accountCount, invoiceCount, problemCount, leftOutCount };
}
