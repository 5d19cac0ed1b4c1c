import type { Knex } from 'knex';
import type { Static } from 'typebox';
import {
  outputListMax,
  type BillingProblem,
  type BillingRunInput,
  type BillingRunStart,
} from '../../messages/billing-run.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import type * as schema from '../../schemas/billing/billing-run.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { getExecution, listExecutions, type ExecutionRecord } from '../flows/execution.js';

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
  readonly drafts: readonly object[];
}

interface TotalRow {
  readonly invoiceType: string;
  readonly currency: string;
  readonly count: number;
  readonly transactions: number;
  readonly amount: string;
  readonly taxAmount: string;
}

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
  const { drafts } = end;
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
  if (isDryRun) return { ...run, invoiceCount: end.invoices, invoices: drafts, ...rest };
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

type SummaryDto = Static<typeof schema.BillingRunSummary>;
type DraftDto = Static<typeof schema.BillingDraft>;
type TotalDto = NonNullable<Static<typeof schema.BillingRun>['totals']>[number];
export type BillingRunDto = Static<typeof schema.BillingRun>;

/** A draft in the output of a run: numbers that a float would change are text. */
interface StoredDraft extends Pick<
  DraftDto,
  'accountId' | 'accountName' | 'invoiceType' | 'currency'
> {
  readonly amount: Decimal | number | string;
  readonly taxAmount: Decimal | number | string;
}

/** What a run puts out at its end. */
interface StoredOutput {
  readonly invoiceDate: string;
  readonly accountCount: number;
  readonly invoiceCount: number;
  readonly problemCount: number;
  readonly problems: readonly BillingProblem[];
  readonly totals?: readonly {
    readonly invoiceType: string;
    readonly currency: string;
    readonly count: number;
    readonly amount: Decimal | number | string;
    readonly taxAmount: Decimal | number | string;
  }[];
  readonly invoices?: readonly StoredDraft[];
}

/** What a run says of itself at its end, in numbers. */
type RunCounts = Pick<
  SummaryDto,
  'accountCount' | 'invoiceCount' | 'problemCount' | 'leftOutCount'
>;

const noCounts = { accountCount: null, invoiceCount: null, problemCount: null, leftOutCount: null };

/** Each event that is left out counts, and each problem of none; those of events come first: none is cut off. */
function countsOf({ accountCount, invoiceCount, problemCount, problems }: StoredOutput): RunCounts {
  const leftOutCount = problems.reduce((sum, { events = 1 }) => sum + events - 1, problemCount);
  return { accountCount, invoiceCount, problemCount, leftOutCount };
}

/** The same from the database: a thousand outputs with all their drafts are not read for them. */
const countsSql = `case when output is not null then jsonb_build_object(
  'accountCount', output -> 'accountCount', 'invoiceCount', output -> 'invoiceCount',
  'problemCount', output -> 'problemCount',
  'leftOutCount', (output ->> 'problemCount')::integer + coalesce((
    select sum((p ->> 'events')::integer - 1) from jsonb_array_elements(output -> 'problems') as p
  ), 0)
)::text end`;

function presentRun(record: ExecutionRecord, counts: RunCounts): SummaryDto {
  const { id, status, actor, startedAt, completedAt, error } = record;
  const input = record.input as unknown as BillingRunInput;
  return {
    id,
    status,
    actor,
    startedAt: startedAt.toISOString(),
    completedAt: completedAt?.toISOString() ?? null,
    periodStart: input.periodStart,
    periodEnd: input.periodEnd,
    accountId: input.accountId ?? null,
    dryRun: input.dryRun === true,
    error: error?.message ?? null,
    ...counts,
  };
}

const ofKind: Readonly<Record<schema.BillingRunKind, string>> = {
  run: `input ->> 'dryRun' is distinct from 'true'`,
  dryRun: `input ->> 'dryRun' = 'true'`,
};

/** One page of billing runs, perhaps of a kind, the latest first (spec/beyond.md R376). */
export async function listBillingRuns(
  scope: Scope,
  page: PageRequest,
  kind: schema.BillingRunKind | undefined,
): Promise<Listed<SummaryDto>> {
  const where = kind && ofKind[kind];
  const read = { where, output: countsSql };
  const { items, ...listed } = await listExecutions(scope, 'runBilling', undefined, page, read);
  const counts = ({ output }: ExecutionRecord) => (output as RunCounts | null) ?? noCounts;
  return { ...listed, items: items.map((record) => presentRun(record, counts(record))) };
}

/** What drafts come to, by type and currency. */
function sumDrafts(drafts: readonly StoredDraft[]): TotalDto[] {
  const sums = new Map<string, TotalDto>();
  for (const { invoiceType, currency, amount, taxAmount } of drafts) {
    const key = `${invoiceType} ${currency}`;
    const sum = sums.get(key);
    sums.set(key, {
      invoiceType,
      currency,
      count: (sum?.count ?? 0) + 1,
      amount: new Decimal(amount).plus(sum?.amount ?? 0),
      taxAmount: new Decimal(taxAmount).plus(sum?.taxAmount ?? 0),
    });
  }
  return [...sums.entries()].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, sum]) => sum);
}

function totalsOf({ totals, invoices, invoiceCount }: StoredOutput): TotalDto[] | null {
  if (invoices) return invoices.length === invoiceCount ? sumDrafts(invoices) : null;
  return (totals ?? []).map(({ amount, taxAmount, ...total }) => ({
    ...total,
    amount: new Decimal(amount),
    taxAmount: new Decimal(taxAmount),
  }));
}

interface PreviousRow {
  readonly accountId: string;
  readonly invoiceType: string;
  readonly currency: string;
  readonly id: string;
  readonly total: string;
}

const previousSql = `
  select distinct on (account_id, invoice_type, currency) account_id as "accountId",
    invoice_type as "invoiceType", currency, id, amount + tax_amount as "total"
  from invoice
  where tenant_id = ? and account_id = any(?::uuid[]) and invoice_status = 'Posted'
    and period_end < ?::date
  order by account_id, invoice_type, currency, period_end desc, invoice_no desc`;

/** How far it is from the one before, or from nothing. */
const changeOf = ({ total, difference }: DraftDto): Decimal =>
  new Decimal(difference ?? total).abs();

/** Drafts, each beside the last invoice of an earlier period; what differs the most comes first. */
async function compareDrafts(
  { db, tenantId }: Scope,
  periodStart: string,
  drafts: readonly StoredDraft[],
): Promise<DraftDto[]> {
  const accountIds = [...new Set(drafts.map(({ accountId }) => accountId))];
  const rows =
    drafts.length === 0
      ? []
      : await sqlRows<PreviousRow>(db.read, previousSql, [tenantId, accountIds, periodStart]);
  const keyOf = ({ accountId, invoiceType, currency }: PreviousRow | StoredDraft): string =>
    `${accountId} ${invoiceType} ${currency}`;
  const previous = new Map(rows.map((row) => [keyOf(row), row]));
  const compared = drafts.map((draft) => {
    const { accountId, accountName, invoiceType, currency } = draft;
    const [amount, taxAmount] = [new Decimal(draft.amount), new Decimal(draft.taxAmount)];
    const before = previous.get(keyOf(draft));
    const total = amount.plus(taxAmount);
    return {
      accountId,
      accountName,
      invoiceType,
      currency,
      amount,
      taxAmount,
      total,
      previousInvoiceId: before?.id ?? null,
      previousTotal: before ? new Decimal(before.total) : null,
      difference: before ? total.minus(before.total) : null,
    };
  });
  return compared.sort((a, b) => changeOf(b).comparedTo(changeOf(a)));
}

/** The run that bills what a dry run has shown, if one has begun since: the latest. */
async function findBilledBy(
  { db, tenantId }: Scope,
  { startedAt }: ExecutionRecord,
  { dryRun, periodStart, periodEnd, accountId }: SummaryDto,
): Promise<string | null> {
  if (!dryRun) return null;
  const [found] = await sqlRows<{ id: string }>(
    db.read,
    `select id from execution
     where tenant_id = :tenantId and workflow = 'runBilling' and started_at > :startedAt
       and status in ('running', 'completed') and input->>'dryRun' is distinct from 'true'
       and input->>'periodStart' = :periodStart and input->>'periodEnd' = :periodEnd
       and (input->>'accountId' is null or input->>'accountId' = :accountId)
     order by started_at desc, id desc limit 1`,
    { tenantId, startedAt, periodStart, periodEnd, accountId },
  );
  return found?.id ?? null;
}

/** A billing run with what it left out and why (spec/beyond.md R377), and its record. 404: there is none. */
export async function readBillingRun(
  scope: Scope,
  id: string,
): Promise<{ readonly run: BillingRunDto; readonly record: ExecutionRecord }> {
  const record = await getExecution(scope, 'runBilling', id);
  const output = record.output as StoredOutput | null;
  const summary = presentRun(record, output ? countsOf(output) : noCounts);
  const run = {
    ...summary,
    invoiceDate: output?.invoiceDate ?? null,
    totals: output && totalsOf(output),
    problems: [...(output?.problems ?? [])],
    drafts: await compareDrafts(scope, summary.periodStart, output?.invoices ?? []),
    progress: null,
    billedBy: await findBilledBy(scope, record, summary),
  };
  return { run, record };
}
