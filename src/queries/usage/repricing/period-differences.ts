import type { Knex } from 'knex';
import { groupBy } from '../../../kernel/group-by.js';
import { eachInPortions } from '../../../kernel/portions.js';
import { Decimal, decimalText } from '../../../kernel/numbers/money.js';
import { periodOf } from '../../../kernel/time/period.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type { PeriodDifference } from '../../../models/usage/repricing/repricing-period.js';
import type { Prepared, Rated } from '../../../rating/index.js';
import { loadPeriodAdjustments } from '../../billing/adjustments/period-adjustment.js';
import type { TriedAdjustment } from './changed-facts.js';
import type { TriedEvent } from './repricer.js';

/** A charge that would be there (above zero), or not be there any more, with what adjustments ask of it. */
export interface ChargeMove {
  readonly accountId: string;
  readonly currency: string;
  readonly date: string;
  readonly serviceId: string;
  readonly contractId: string | null;
  readonly lineId: string | null;
  readonly amount: Decimal;
}

/** What minimums, maximums and commitments see of an event that would be rated otherwise. */
export function movesOf(
  { charges }: TriedEvent,
  { plan, owner }: Prepared,
  { transactions }: Rated,
): ChargeMove[] {
  const date = charges[0]?.transactionDate;
  if (date === undefined) return [];
  const gone = charges.map((charge): ChargeMove & { usageType: string } => ({
    accountId: charge.accountId,
    currency: charge.currency,
    date,
    serviceId: charge.serviceId,
    contractId: charge.contractId,
    lineId: charge.contractServiceId,
    amount: new Decimal(charge.amount).negated(),
    usageType: charge.usageType,
  }));
  const made = transactions.map((charge): ChargeMove & { usageType: string } => ({
    accountId: charge.billedAccountId,
    currency: charge.currency,
    date,
    serviceId: plan.service.id,
    contractId: owner.line?.contractId ?? null,
    lineId: owner.line?.id ?? null,
    amount: charge.amount,
    usageType: charge.usageType,
  }));
  return [...gone, ...made].filter(({ usageType }) => usageType === 'Charge');
}

/**
 * How much more periods of adjustments come to: those in force, and those that are tried. What is 100.00
 * in the books and would be 130.00 is 30.00 for the minimum of its month.
 */
export async function findDifferences(
  db: Knex,
  tenantId: string,
  tried: readonly TriedAdjustment[],
  moves: readonly ChargeMove[],
): Promise<PeriodDifference[]> {
  if (moves.length === 0) return [];
  const accountIds = [...new Set(moves.map(({ accountId }) => accountId))];
  const inForce = await loadPeriodAdjustments(db, tenantId, accountIds);
  const adjustments = [...inForce, ...tried];
  if (adjustments.length === 0) return [];
  const lineages = await readLineages(db, tenantId, moves);
  const found = new Map<string, Omit<PeriodDifference, 'difference'> & { difference: Decimal }>();
  const ofAccount = groupBy(
    adjustments.map((adjustment) => ({
      adjustment,
      since: periodOf(adjustment.period, adjustment.from).start,
    })),
    ({ adjustment: { accountId, contractId } }) => `${accountId}/${contractId}`,
  );
  await eachInPortions(moves, (move) => {
    const { accountId, contractId, date, amount } = move;
    // Those of all charges of the account, and those of the contract's.
    const scopes = [...new Set([null, contractId])];
    for (const { adjustment, since } of scopes.flatMap(
      (scope) => ofAccount.get(`${accountId}/${scope}`) ?? [],
    )) {
      if (date < since || !isOf(adjustment, move, lineages)) continue;
      const periodStart = periodOf(adjustment.period, date).start;
      const key = `${adjustment.id}/${accountId}/${periodStart}`;
      const known = found.get(key);
      if (known) known.difference = known.difference.plus(amount);
      else
        found.set(key, { accountId, adjustmentId: adjustment.id, periodStart, difference: amount });
    }
  });
  return [...found.values()].map((of) => ({ ...of, difference: decimalText(of.difference) }));
}

/** Whether a charge of the scope's account and contract is one that an adjustment sees. */
function isOf(
  of: TriedAdjustment,
  move: ChargeMove,
  lineages: ReadonlyMap<string, string>,
): boolean {
  return (
    of.currency === move.currency &&
    (of.to === null || move.date < of.to) &&
    (of.lineageId === null || of.lineageId === lineages.get(move.lineId ?? '')) &&
    (of.serviceId === null || of.serviceId === move.serviceId)
  );
}

/** The first of the lines that replaced each other, by the ids of lines. */
async function readLineages(
  db: Knex,
  tenantId: string,
  moves: readonly ChargeMove[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(moves.flatMap(({ lineId }) => (lineId === null ? [] : [lineId])))];
  const rows = await sqlRows<{ id: string; lineageId: string }>(
    db,
    `select id, coalesce(lineage_id, id) as "lineageId" from contract_service
     where tenant_id = ? and id = any(?::uuid[])`,
    [tenantId, ids],
  );
  return new Map(rows.map(({ id, lineageId }) => [id, lineageId]));
}
