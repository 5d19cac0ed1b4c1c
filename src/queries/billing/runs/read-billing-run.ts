import type { Static } from 'typebox';
import type { BillingProblem, BillingRunInput } from '../../../messages/billing-run.js';
import { Decimal } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type * as schema from '../../../schemas/billing/billing-run.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import {
  getExecution,
  listCountedExecutions,
  type ExecutionRecord,
} from '../../flows/execution.js';
import { countsOf, type RunCounts } from './billing-run.js';

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

const noCounts: { readonly [Name in keyof RunCounts]: null } = {
  accountCount: null,
  invoiceCount: null,
  problemCount: null,
  leftOutCount: null,
};

/** As the run has kept them; of one that a version before has ended they are looked for in its output. */
const countsSql = `case when output is not null then coalesce(counts, jsonb_build_object(
  'accountCount', output -> 'accountCount', 'invoiceCount', output -> 'invoiceCount',
  'problemCount', output -> 'problemCount',
  'leftOutCount', (output ->> 'problemCount')::integer + coalesce((
    select sum((p ->> 'events')::integer - 1) from jsonb_array_elements(output -> 'problems') as p
  ), 0)
))::text end`;

function presentRun(record: ExecutionRecord, counts: RunCounts | typeof noCounts): SummaryDto {
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

/** Of the drafts of a dry run what is shown with it: with their items they may be hundreds of thousands of characters. */
const shownSql = `(case when output -> 'invoices' is null then output
  else jsonb_set(output, '{invoices}', coalesce((
    select jsonb_agg(jsonb_build_object(
      'accountId', draft -> 'accountId', 'accountName', draft -> 'accountName',
      'invoiceType', draft -> 'invoiceType', 'currency', draft -> 'currency',
      'amount', draft -> 'amount', 'taxAmount', draft -> 'taxAmount') order by place)
    from jsonb_array_elements(output -> 'invoices') with ordinality as drafts (draft, place)
  ), '[]')) end)::text`;

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
  const { items, ...listed } = await listCountedExecutions(scope, 'runBilling', page, read);
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
  const record = await getExecution(scope, 'runBilling', id, shownSql);
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
