import { Decimal, decimalText, sum } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  differencesMax,
  type UsageAuditInput,
  type UsageDifference,
} from '../../../messages/usage/usage-audit.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import { adjustPeriod, type PeriodKind } from '../../../rating/index.js';

/** Periods that one audit computes again; beyond that, the latest. */
const periodsMax = 100_000;

/** A period as it was adjusted, with what each invoice that is not void has of it, the latest first. */
interface AuditedPeriod {
  readonly accountId: string;
  readonly kind: PeriodKind;
  readonly periodStart: string;
  readonly value: string;
  readonly spent: string;
  readonly amounts: readonly string[];
  /** What the items of these invoices show of it. */
  readonly shown: string;
  /** Whether a void has taken something away, which the next run brings back. */
  readonly hasVoid: boolean;
}

const periodsSql = `
  with own as (
    select charge.account_id, charge.adjustment_id, charge.kind, charge.period_start, charge.value,
      charge.spent, charge.amount, charge.created_at, charge.voided_at,
      case when invoice.is_reversed then -1 else 1 end * item.exact_amount as shown
    from adjustment_charge as charge
    join invoice on invoice.tenant_id = :tenantId and invoice.id = charge.invoice_id
    left join invoice_item as item
      on item.tenant_id = :tenantId and item.id = charge.invoice_item_id
    where charge.tenant_id = :tenantId and charge.period_start <= :periodEnd::date
      and charge.period_end > :periodStart::date
  )
  select account_id as "accountId", kind, period_start::text as "periodStart",
    (array_agg(value::text order by created_at desc) filter (where voided_at is null))[1] as "value",
    (array_agg(spent::text order by created_at desc) filter (where voided_at is null))[1] as "spent",
    array_agg(amount::text) filter (where voided_at is null) as "amounts",
    coalesce(sum(shown) filter (where voided_at is null), 0)::text as "shown",
    bool_or(voided_at is not null) as "hasVoid"
  from own group by account_id, adjustment_id, kind, period_start
  having bool_or(voided_at is null)
  order by period_start desc, account_id, adjustment_id limit ${periodsMax}`;

/**
 * Computes again what minimums, maximums and commitments made of the periods that an audit touches: from
 * what each had come to and what was agreed, against what was billed and what invoices show
 * (spec/beyond.md R308, docs/decisions/0399).
 */
export async function auditPeriods(
  { db, tenantId }: Scope,
  { periodStart, periodEnd }: UsageAuditInput,
): Promise<{ readonly count: number; readonly differences: readonly UsageDifference[] }> {
  const rows = await sqlRows<AuditedPeriod>(db.read, periodsSql, {
    tenantId,
    periodStart,
    periodEnd,
  });
  const differences = rows.flatMap((row): UsageDifference[] => {
    const billed = sum(row.amounts.map((amount) => new Decimal(amount)));
    const needed = adjustPeriod(row.kind, new Decimal(row.value), new Decimal(row.spent), true);
    const shown = new Decimal(row.shown);
    return [
      ...(row.hasVoid || billed.eq(needed) ? [] : [differenceOf(row, 'amount', billed, needed)]),
      ...(shown.eq(billed) ? [] : [differenceOf(row, 'items', shown, billed)]),
    ];
  });
  return { count: differences.length, differences: differences.slice(0, differencesMax) };
}

const differenceOf = (
  { accountId, kind, periodStart }: AuditedPeriod,
  what: string,
  recorded: Decimal,
  computed: Decimal,
): UsageDifference => ({
  kind: 'period',
  field: `${what} of the ${kind} from ${periodStart}`,
  recorded: decimalText(recorded),
  computed: decimalText(computed),
  ratedTransactionId: null,
  externalTransactionId: null,
  ownerId: accountId,
  counterId: null,
});
