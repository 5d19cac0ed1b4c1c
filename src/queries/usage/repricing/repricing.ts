import type { Static } from 'typebox';
import { mapInPortions } from '../../../kernel/portions.js';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { parseJson } from '../../../kernel/text/json.js';
import type { ExecutionStatus } from '../../../messages/flow-run.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { changeBounds, Repricing } from '../../../models/usage/repricing/repricing.js';
import {
  readPeriods,
  type RepricedPeriod,
} from '../../../models/usage/repricing/repricing-period.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import type { RepricedAccount } from '../../../schemas/usage/repriced-account.js';
import type * as schema from '../../../schemas/usage/repricing.js';
import { fillPage, type Place } from '../../lists/page-bytes.js';
import { presentSums } from '../corrections/correction.js';

type SummaryDto = Static<typeof schema.RepricingSummary>;
type RepricingDto = Static<typeof schema.Repricing>;
type AccountDto = Static<typeof RepricedAccount>;

/** How far repricings are, by their ids. */
interface Progress {
  readonly id: string;
  readonly status: ExecutionStatus | null;
  readonly events: number | null;
  readonly total: number | null;
}

const decimal = (text: string | null): Decimal | null => (text === null ? null : new Decimal(text));

/** What a summary shows: what was asked, up to a mebibyte of each, is not read for it (docs/decisions/0544). */
const summaryColumns = [
  'id',
  'name',
  'actor',
  'fromAt',
  'toAt',
  'createdAt',
  'endedAt',
  'events',
  'accounts',
  'rejected',
  'before',
  'after',
  'change',
  'isPassed',
  'violations',
  'accountChangeMax',
  'totalDecreaseMax',
  'promotedAt',
  'promotedFrom',
  'promotedBy',
  'isForced',
  'removedAt',
] as const satisfies readonly (keyof Repricing)[];

function presentSummary(
  of: Pick<Repricing, (typeof summaryColumns)[number]>,
  progress: Progress | undefined,
): SummaryDto {
  const { change, violations, isPassed } = of;
  const events = of.events === null ? null : Number(of.events);
  return {
    id: of.id,
    name: of.name,
    status: of.endedAt === null ? (progress?.status ?? 'running') : 'completed',
    actor: of.actor,
    from: of.fromAt.toISOString(),
    to: of.toAt.toISOString(),
    createdAt: of.createdAt.toISOString(),
    endedAt: of.endedAt?.toISOString() ?? null,
    eventsDone: events ?? progress?.events ?? 0,
    eventsTotal: Math.max(progress?.total ?? 0, events ?? 0),
    events,
    accounts: of.accounts === null ? null : Number(of.accounts),
    rejected: (of.rejected ?? []).map((each) => ({ ...each })),
    before: presentSums(of.before ?? []),
    after: presentSums(of.after ?? []),
    change: change && {
      p5: decimal(change.p5),
      p50: decimal(change.p50),
      p95: decimal(change.p95),
      min: decimal(change.min),
      max: decimal(change.max),
      bins: presentBins(change.bins ?? []),
    },
    guard:
      isPassed === null
        ? null
        : {
            passed: isPassed,
            accountChangeMax: decimal(of.accountChangeMax),
            totalDecreaseMax: decimal(of.totalDecreaseMax),
            violations: presentViolations(violations),
          },
    promotedAt: of.promotedAt?.toISOString() ?? null,
    promotedFrom: of.promotedFrom,
    promotedBy: of.promotedBy,
    isForced: of.isForced,
    isRemoved: of.removedAt !== null,
  };
}

const presentBins = (bins: readonly number[]) =>
  bins.map((accounts, at) => ({
    from: decimal(changeBounds[at - 1] ?? null),
    to: decimal(changeBounds[at] ?? null),
    accounts,
  }));

/** Violations as the API shows them. */
export const presentViolations = (violations: Repricing['violations']) =>
  (violations ?? []).map(({ max, before, after, change, ...of }) => ({
    ...of,
    max: new Decimal(max),
    before: new Decimal(before),
    after: new Decimal(after),
    change: decimal(change),
  }));

async function progressOf(
  { db, tenantId }: Scope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Progress>> {
  const rows = await sqlRows<Progress>(
    db.read,
    `select each.id, execution.status, run.events::integer as "events", run.total::integer as "total"
     from unnest(:ids::uuid[]) as each (id)
     left join execution on execution.tenant_id = :tenantId and execution.id = each.id
     left join repricing_run as run on run.tenant_id = :tenantId and run.repricing_id = each.id`,
    { tenantId, ids },
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Repricings, newest first (spec/beyond.md R224). */
export async function listRepricings(
  scope: Scope,
  { limit, offset }: PageRequest,
): Promise<Listed<SummaryDto>> {
  const { db, tenantId } = scope;
  const query = Repricing.query(db.read).forTenant(tenantId).orderBy('id', 'desc');
  const found = await query
    .clone()
    .select(...summaryColumns)
    .limit(limit)
    .offset(offset);
  const total = await query.clone().clearOrder().resultSize();
  const progress = await progressOf(
    scope,
    found.map(({ id }) => id),
  );
  return { items: found.map((one) => presentSummary(one, progress.get(one.id))), total };
}

/** A repricing. 404: there is none of this id. */
export async function findRepricing({ db, tenantId }: Scope, id: string): Promise<Repricing> {
  const found = await Repricing.query(db.read).forTenant(tenantId).findById(id);
  if (!found) throw problem.notFound(`There is no repricing '${id}'.`);
  return found;
}

/** A repricing with what was asked. 404: there is none of this id. */
export async function getRepricing(scope: Scope, id: string): Promise<RepricingDto> {
  const found = await findRepricing(scope, id);
  const progress = await progressOf(scope, [found.id]);
  return {
    ...presentSummary(found, progress.get(found.id)),
    accountIds: found.accountIds,
    serviceIds: found.serviceIds,
    changes: parseJson(found.changes) as unknown[],
  };
}

/** One whose accounts and charges are there. 404: there is none. 409: they were removed. */
export async function findKept(scope: Scope, id: string): Promise<Repricing> {
  const found = await findRepricing(scope, id);
  if (found.removedAt === null) return found;
  throw problem.conflict(
    'The accounts and charges of this repricing were removed for newer ones: execute it again.',
  );
}

interface AccountRow extends Place {
  readonly accountId: string;
  readonly name: string | null;
  readonly externalId: string | null;
  readonly currency: string;
  readonly charges: number;
  readonly before: string;
  readonly after: string;
  readonly change: string | null;
  /** How many periods adjustments have touched. */
  readonly periods: number;
}

/** About what a period takes in an answer. */
const periodBytes = 400;

const accountsSql = (direction: 'asc' | 'desc'): string => `
  with page as materialized (
    select account_id, currency, charges, before, after, change from repricing_account
    where tenant_id = :tenantId and repricing_id = :id
    order by change ${direction} nulls last, account_id, currency limit :limit offset :offset
  )
  select page.account_id as id, page.account_id as "accountId", account.name,
    account.external_id as "externalId", page.currency, page.charges::integer as "charges",
    page.before, page.after, page.change, (
      select count(*)::integer from repricing_period as period
      where period.tenant_id = :tenantId and period.repricing_id = :id
        and period.account_id = page.account_id and period.is_done
    ) as "periods"
  from page
  left join account on account.tenant_id = :tenantId and account.id = page.account_id
  order by page.change ${direction} nulls last, page.account_id, page.currency`;

const presentPeriod = (of: RepricedPeriod): AccountDto['adjustments'][number] => ({
  adjustmentId: of.isTried ? null : of.adjustmentId,
  kind: of.kind,
  value: new Decimal(of.value),
  periodStart: of.periodStart,
  periodEnd: of.periodEnd,
  spentBefore: new Decimal(of.spentBefore),
  spentAfter: new Decimal(of.spentAfter),
  before: new Decimal(of.before),
  after: new Decimal(of.after),
});

/** What accounts would pay (spec/beyond.md R225). 404: there is no such repricing. */
export async function listRepricedAccounts(
  scope: Scope,
  id: string,
  sort: 'change:desc' | 'change:asc' | undefined,
  { limit, offset }: PageRequest,
): Promise<Listed<AccountDto>> {
  const { db, tenantId } = scope;
  await findKept(scope, id);
  const direction = sort === 'change:asc' ? 'asc' : 'desc';
  const bindings = { tenantId, id, limit, offset };
  const rows = await sqlRows<AccountRow>(db.read, accountsSql(direction), bindings);
  const [{ total } = { total: 0 }] = await sqlRows<{ total: number }>(
    db.read,
    `select count(*)::integer as "total" from repricing_account
     where tenant_id = ? and repricing_id = ?`,
    [tenantId, id],
  );
  const places = rows.map((row) => ({ ...row, weight: row.periods * periodBytes }));
  const page = await fillPage(
    places,
    (portion) => readAccounts(scope, id, portion),
    ({ adjustments }) => adjustments.length * periodBytes,
  );
  return { items: page.rows, total, isCut: page.isCut };
}

/** What accounts would pay, with what adjustments make of their periods. */
async function readAccounts(
  { db, tenantId }: Scope,
  id: string,
  rows: readonly AccountRow[],
): Promise<AccountDto[]> {
  const accountIds = rows.map(({ accountId }) => accountId);
  const periods = new Map<string, RepricedPeriod[]>();
  for (const period of await readPeriods(db.read, tenantId, id, accountIds)) {
    const key = period.accountId + period.currency;
    const known = periods.get(key);
    if (known) known.push(period);
    else periods.set(key, [period]);
  }
  return mapInPortions(rows, async (row): Promise<AccountDto> => {
    const { accountId, currency, name, externalId, charges } = row;
    const [before, after] = [new Decimal(row.before), new Decimal(row.after)];
    const own = periods.get(accountId + currency) ?? [];
    return {
      accountId,
      name,
      externalId,
      currency,
      charges,
      before,
      after,
      difference: after.minus(before),
      change: decimal(row.change),
      adjustments: await mapInPortions(own, presentPeriod),
    };
  });
}
