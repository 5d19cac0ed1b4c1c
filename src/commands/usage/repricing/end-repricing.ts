import type { Knex } from 'knex';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import {
  changeBounds,
  Repricing,
  type ChangeSpread,
  type GuardViolation,
} from '../../../models/usage/repricing/repricing.js';
import type {
  CurrencySum,
  KeptEvents,
} from '../../../models/usage/corrections/usage-correction.js';
import { presentSums } from '../../../queries/usage/corrections/correction.js';
import { presentViolations } from '../../../queries/usage/repricing/repricing.js';
import { requireRangeInDatabase } from './begin-repricing.js';

/** Violations of accounts that the output names. */
const violationsMax = 100;

interface Figures extends ChangeSpread {
  readonly accounts: number;
  readonly events: string;
  readonly rejected: readonly KeptEvents[];
  readonly bins: readonly number[];
}

/** Whether a change is in the range that ends at `to`: of 0 to both sides, nearer ends do not count. */
function isWithin(from: string | undefined, to: string | undefined): string {
  if (from === '0' && to === '0') return 'change = 0';
  const isBelow = to !== undefined && !(Number(to) > 0);
  const [above, below] = isBelow ? ['>=', '<'] : ['>', '<='];
  return [
    ...(from === undefined ? [] : [`change ${above} ${from}`]),
    ...(to === undefined ? [] : [`change ${below} ${to}`]),
  ].join(' and ');
}

const binsSql = [...changeBounds, undefined]
  .map((to, at) => `count(*) filter (where ${isWithin(changeBounds[at - 1], to)})`)
  .join(', ');

/** `percentile_disc` is the percentile by nearest rank. */
const figuresSql = `
  select count(distinct account_id)::integer as "accounts",
    percentile_disc(0.05) within group (order by change) as "p5",
    percentile_disc(0.5) within group (order by change) as "p50",
    percentile_disc(0.95) within group (order by change) as "p95",
    min(change) as "min", max(change) as "max", json_build_array(${binsSql}) as "bins",
    (select events from repricing_run
      where tenant_id = :tenantId and repricing_id = :id) as "events",
    (select coalesce(json_agg(json_build_object('code', key, 'events', value::integer) order by key), '[]')
      from repricing_run cross join jsonb_each_text(rejected)
      where tenant_id = :tenantId and repricing_id = :id) as "rejected"
  from repricing_account where tenant_id = :tenantId and repricing_id = :id`;

const totalsSql = `
  select currency, sum(before) as "before", sum(after) as "after" from repricing_account
  where tenant_id = :tenantId and repricing_id = :id group by currency order by currency`;

/** Compared without dividing: a limit of 25 percent is met by 1.25 of 1, whatever the digits. */
const accountViolationsSql = `
  select account_id as "accountId", currency, before, after, change from repricing_account
  where tenant_id = :tenantId and repricing_id = :id
    and abs(after - before) * 100 > :max::numeric * abs(before)
  order by abs(change) desc nulls first, account_id, currency limit ${violationsMax}`;

interface Total {
  readonly currency: string;
  readonly before: string;
  readonly after: string;
}

const totalViolationsSql = `
  select currency, before, after,
    case when before <> 0 then round((after - before) * 100 / abs(before), 10) end as "change"
  from (${totalsSql}) as total
  where (before - after) * 100 > :max::numeric * abs(before)`;

async function findViolations(
  trx: Knex.Transaction,
  bindings: { readonly tenantId: string; readonly id: string },
  { accountChangeMax, totalDecreaseMax }: Repricing,
): Promise<GuardViolation[]> {
  const violations: GuardViolation[] = [];
  if (totalDecreaseMax !== null) {
    const max = totalDecreaseMax;
    const rows = await sqlRows<Total & { readonly change: string | null }>(
      trx,
      totalViolationsSql,
      { ...bindings, max },
    );
    const limit = 'totalDecreaseMax';
    violations.push(...rows.map((row) => ({ limit, max, accountId: null, ...row }) as const));
  }
  if (accountChangeMax !== null) {
    const max = accountChangeMax;
    const rows = await sqlRows<Omit<GuardViolation, 'limit' | 'max'>>(trx, accountViolationsSql, {
      ...bindings,
      max,
    });
    violations.push(...rows.map((row) => ({ limit: 'accountChangeMax', max, ...row }) as const));
  }
  return violations.slice(0, violationsMax);
}

/**
 * Ends a repricing: what it came to is kept, and put out. 409: usage of its range was dropped while it was
 * rated, so that some is left out.
 */
export async function endRepricing(scope: Scope, id: string) {
  const { tenantId } = scope;
  return scope.db.transaction(async (trx) => {
    const repricing = await Repricing.query(trx).forTenant(tenantId).findById(id).forUpdate();
    if (!repricing) throw problem.notFound(`There is no repricing '${id}'.`);
    const { fromAt, toAt } = repricing;
    const range = { from: fromAt.toISOString(), to: toAt.toISOString() };
    await requireRangeInDatabase(trx, tenantId, range);
    const bindings = { tenantId, id };
    const [figures] = await sqlRows<Figures>(trx, figuresSql, bindings);
    if (!figures) throw new Error('An aggregate has one row.');
    const totals = await sqlRows<Total>(trx, totalsSql, bindings);
    const violations = await findViolations(trx, bindings, repricing);
    const sumsOf = (of: 'before' | 'after'): CurrencySum[] =>
      totals.map((total) => ({ currency: total.currency, amount: total[of] }));
    const { p5, p50, p95, min, max, bins, events, accounts, rejected } = figures;
    const change = { p5, p50, p95, min, max };
    const [before, after] = [sumsOf('before'), sumsOf('after')];
    await repricing
      .$query(trx)
      .forTenant(tenantId)
      .patch({
        endedAt: scope.now(),
        events,
        accounts: String(accounts),
        rejected: [...rejected],
        before,
        after,
        change: { ...change, bins },
        isPassed: violations.length === 0,
        violations,
      });
    return {
      repricingId: id,
      events: Number(events),
      accounts,
      rejected,
      before: presentSums(before),
      after: presentSums(after),
      change: Object.fromEntries(
        Object.entries(change).map(([name, of]) => [name, of === null ? null : new Decimal(of)]),
      ),
      guard: { passed: violations.length === 0, violations: presentViolations(violations) },
    };
  });
}
