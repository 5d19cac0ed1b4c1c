import type { Knex } from 'knex';
import { newId } from '../../../kernel/id.js';
import { Problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import type { Frequency } from '../../../kernel/time/period.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type { ChangedFact } from '../../../queries/usage/repricing/changed-facts.js';
import type { AdjustmentChange } from '../../../schemas/usage/repricing-change.js';
import {
  resolveAdjustment,
  type ResolvedAdjustment,
} from '../../billing/adjustments/adjustment.js';

/**
 * An adjustment that is tried, as rating knows it. 400: `POST /v1/adjustments` would refuse it; with the
 * place of the field in the request.
 */
export async function resolveTriedAdjustment(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  { adjustment: given }: AdjustmentChange,
  at: string,
): Promise<ChangedFact> {
  let resolved: ResolvedAdjustment;
  try {
    resolved = await resolveAdjustment(trx, tenantId, given);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw error.inNames((field) => `${at}.adjustment.${field}`);
  }
  const { kind } = resolved.columns;
  return kind === 'discountPercent' || kind === 'discountAmount'
    ? discountOf(resolved, kind)
    : await ofPeriods(trx, tenantId, resolved, kind);
}

function discountOf(
  { columns, accountId, lineageId }: ResolvedAdjustment,
  kind: 'discountPercent' | 'discountAmount',
): ChangedFact {
  const { value, currency, serviceId, contractId, fromDate: from, toDate: to } = columns;
  const [scope, scopeId] =
    lineageId === null
      ? contractId === null
        ? (['account', accountId] as const)
        : (['contract', contractId] as const)
      : (['line', lineageId] as const);
  const discount = { id: newId(), kind, value, currency, serviceId, from, to, scope, scopeId };
  return { kind: 'adjustment', serviceId, accountId, discount };
}

/** The contract, and the last day of it and of the line, as billing runs know them. */
const endSql = `
  select contract.id as "contractId", (case when :lineageId::uuid is null then contract.end_date
    else (
      select case when bool_or(least(line.end_date, line.termination_date) is null)
        then contract.end_date
        else least(max(least(line.end_date, line.termination_date)), contract.end_date) end
      from contract_service as line
      where line.tenant_id = :tenantId and line.contract_id = contract.id
        and coalesce(line.lineage_id, line.id) = :lineageId::uuid and line.deleted_at is null
    ) end + 1)::text as "to"
  from contract where contract.tenant_id = :tenantId and contract.id = coalesce(:contractId::uuid, (
    select sold.contract_id from contract_service as sold
    where sold.tenant_id = :tenantId and sold.id = :lineId::uuid
  ))`;

async function ofPeriods(
  trx: Knex.Transaction,
  tenantId: string,
  { columns, accountId, lineageId }: ResolvedAdjustment,
  kind: 'minimum' | 'maximum' | 'commitment',
): Promise<ChangedFact> {
  const { contractId, contractServiceId: lineId, value, currency, serviceId } = columns;
  const [sold] = await sqlRows<{ contractId: string; to: string | null }>(trx, endSql, {
    tenantId,
    contractId,
    lineId,
    lineageId,
  });
  const ends = [columns.toDate, sold?.to ?? null].filter((end) => end !== null).sort();
  return {
    kind: 'periodAdjustment',
    serviceId,
    adjustment: {
      id: newId(),
      kind,
      value,
      // `resolveAdjustment` demands both of what holds for a period.
      currency: currency ?? '',
      period: (columns.period ?? 'Monthly') as Frequency,
      accountId,
      contractId: sold?.contractId ?? null,
      lineageId,
      serviceId,
      from: columns.fromDate,
      to: ends[0] ?? null,
    },
  };
}
