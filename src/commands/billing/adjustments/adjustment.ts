import type { Knex } from 'knex';
import { decimalText, type Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { Adjustment, adjustmentsMax } from '../../../models/billing/adjustments/adjustment.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import {
  missingAdjustment,
  presentAdjustment,
  type AdjustmentDto,
} from '../../../queries/billing/adjustments/adjustment.js';
import type { AdjustmentCreate, AdjustmentUpdate } from '../../../schemas/billing/adjustment.js';
import { scopeOf, type AdjustmentColumns } from './adjustment-scope.js';
import { requireNoContradiction } from './contradicting-adjustments.js';

const scopes = ['accountId', 'contractId', 'contractServiceId'] as const;

/**
 * Makes an adjustment (spec/beyond.md R281). 400: its parts do not fit together, or name nothing. 409:
 * it contradicts another one.
 */
export async function createAdjustment(
  scope: Scope,
  input: AdjustmentCreate,
): Promise<AdjustmentDto> {
  const { tenantId, now } = scope;
  return scope.db.transaction(async (trx) => {
    const { columns } = await resolveAdjustment(trx, tenantId, input);
    await Adjustment.change(trx, tenantId);
    await requireNoContradiction(trx, tenantId, columns, null);
    const at = now();
    const adjustment = await Adjustment.query(trx)
      .forTenant(tenantId)
      .insert({ ...columns, createdAt: at, updatedAt: at })
      .returning('*');
    const count = await Adjustment.query(trx)
      .forTenant(tenantId)
      .existing()
      .where(scopeOf(columns));
    if (count.length > adjustmentsMax) {
      throw problem.conflict(`There would be more than ${adjustmentsMax} adjustments of it.`);
    }
    return presentAdjustment(adjustment);
  });
}

/** An adjustment with what it names. */
export interface ResolvedAdjustment {
  readonly columns: AdjustmentColumns;
  /** The account of its contract or line, else its own. */
  readonly accountId: string;
  /** Of a line the first of those that replaced each other. */
  readonly lineageId: string | null;
}

/** An adjustment as it would be made. 400: its parts do not fit together, or name nothing. */
export async function resolveAdjustment(
  trx: Knex.Transaction,
  tenantId: string,
  given: AdjustmentCreate,
): Promise<ResolvedAdjustment> {
  requireOneScope(given);
  const found = await findScope(trx, tenantId, given);
  const { accountId, lineageId } = found;
  const field = scopes.find((name) => (given[name] ?? null) !== null) ?? 'accountId';
  if (accountId === null) {
    throw problem.validation(`'${field}' names nothing: '${given[field] ?? ''}'`, {
      field,
      value: given[field],
    });
  }
  return { columns: columnsOf(given, found), accountId, lineageId };
}

/**
 * Changes what is given. 400 and 409: as of a new one, of what is changed; what it names may be gone since,
 * or have another currency, and it ends all the same. 404: there is none.
 */
export async function updateAdjustment(
  scope: Scope,
  id: string,
  input: AdjustmentUpdate,
): Promise<AdjustmentDto> {
  const { tenantId, now } = scope;
  return scope.db.transaction(async (trx) => {
    await Adjustment.change(trx, tenantId);
    const known = await lockAdjustment(trx, tenantId, id);
    const before = presentAdjustment(known);
    for (const field of [...scopes, 'kind'] as const) {
      const given = input[field];
      if (given === undefined || given === before[field]) continue;
      throw problem.validation(
        `'${field}' of an adjustment stays: end this one with 'to', and make another.`,
        { field, value: given },
      );
    }
    const given = { ...before, ...input };
    const columns = columnsOf(given, await findScope(trx, tenantId, given), before);
    await requireNoContradiction(trx, tenantId, columns, id);
    const changed = await known
      .$query(trx)
      .forTenant(tenantId)
      .patch({ ...columns, updatedAt: now() })
      .returning('*');
    return presentAdjustment(changed as unknown as Adjustment);
  });
}

/** Deletes an adjustment: it adjusts nothing from now on. 404: there is none. */
export async function deleteAdjustment({ db, tenantId, now }: Scope, id: string): Promise<void> {
  await db.transaction(async (trx) => {
    const known = await lockAdjustment(trx, tenantId, id);
    await known.$query(trx).forTenant(tenantId).patch({ deletedAt: now() });
  });
}

async function lockAdjustment(
  trx: Knex.Transaction,
  tenantId: string,
  id: string,
): Promise<Adjustment> {
  const found = await Adjustment.query(trx).forTenant(tenantId).existing().findById(id).forUpdate();
  if (!found) throw missingAdjustment(id);
  return found;
}

function requireOneScope(given: Pick<AdjustmentCreate, (typeof scopes)[number]>): void {
  const named = scopes.filter((field) => (given[field] ?? null) !== null);
  if (named.length === 1) return;
  const all = scopes.map((field) => `'${field}'`).join(', ');
  throw problem.validation(
    named.length === 0
      ? `One of ${all} is required: what the adjustment holds for.`
      : `Exactly one of ${all} may be given, not ${named.map((field) => `'${field}'`).join(' and ')}.`,
    { field: named[1] ?? 'accountId' },
  );
}

/** The columns of an adjustment. 400: its parts do not fit together; of one that is changed, those that are. */
function columnsOf(
  given: AdjustmentCreate,
  found: FoundScope,
  before: Partial<Named> = {},
): AdjustmentColumns {
  const { kind, value, from, to = null } = given;
  requireRange(given);
  requireValue(kind, value);
  const isDiscount = kind === 'discountPercent' || kind === 'discountAmount';
  if (isDiscount && (given.period ?? null) !== null) {
    throw problem.validation(`'period' means nothing with ${kind}: it comes off each charge`, {
      field: 'period',
    });
  }
  if (given.serviceId !== before.serviceId) requireService(given, found);
  if (given.currency !== before.currency) requireCurrency(given, found);
  const currency = given.currency ?? (kind === 'discountPercent' ? null : found.currency);
  if (currency === null && kind !== 'discountPercent') {
    throw problem.validation(
      `'currency' is required: neither the contract nor the account has one.`,
      { field: 'currency' },
    );
  }
  return {
    accountId: given.accountId ?? null,
    contractId: given.contractId ?? null,
    contractServiceId: given.contractServiceId ?? null,
    kind,
    value: decimalText(value),
    currency,
    serviceId: given.serviceId ?? null,
    period: isDiscount ? null : periodOf(given.period ?? 'Monthly'),
    fromDate: from,
    toDate: to,
  };
}

function requireRange({ from, to }: Pick<AdjustmentCreate, 'from' | 'to'>): void {
  if ((to ?? null) === null || from < (to ?? '')) return;
  throw problem.validation(
    `'to' must be after 'from', the day after the last one: '${to}' is not after '${from}'`,
    {
      field: 'to',
      value: to,
    },
  );
}

function requireValue(kind: AdjustmentCreate['kind'], value: Decimal): void {
  if (kind !== 'discountPercent' || value.lessThanOrEqualTo(100)) return;
  throw problem.validation(`'value' of a discountPercent must be at most 100`, {
    field: 'value',
    value: decimalText(value),
  });
}

/** What is billed once has no period. */
function periodOf(period: string): string {
  if (period !== 'One Time') return period;
  throw problem.validation(`'period' 'One Time' is no calendar period`, {
    field: 'period',
    value: period,
  });
}

/** What of an adjustment its contract or line may have another of. */
type Named = Pick<AdjustmentCreate, 'serviceId' | 'currency'>;

/** What an adjustment names, as it is now. */
interface FoundScope {
  /** The account of its contract or line, else its own; null: it is gone, or there is none. */
  readonly accountId: string | null;
  readonly lineageId: string | null;
  /** That of the contract, else of the account. */
  readonly currency: string | null;
  readonly contractCurrency: string | null;
  readonly lineServiceId: string | null;
  /** Whether there is the service, where one is named. */
  readonly hasService: boolean;
}

async function findScope(
  trx: Knex.Transaction,
  tenantId: string,
  given: AdjustmentCreate,
): Promise<FoundScope> {
  const of = {
    tenantId,
    accountId: given.accountId ?? null,
    contractId: given.contractId ?? null,
    lineId: given.contractServiceId ?? null,
    serviceId: given.serviceId ?? null,
  };
  const [row] = await sqlRows<FoundScope>(
    trx,
    `select coalesce(contract.currency, account.default_currency) as "currency",
       contract.currency as "contractCurrency", account.id as "accountId",
       coalesce(line.lineage_id, line.id) as "lineageId", line.service_id as "lineServiceId",
       (:serviceId::uuid is null or exists (
         select from service where tenant_id = :tenantId and id = :serviceId::uuid and deleted_at is null
       )) as "hasService"
     from (select null) as one
     left join contract_service as line on line.tenant_id = :tenantId and line.id = :lineId::uuid
       and line.deleted_at is null
     left join contract on contract.tenant_id = :tenantId
       and contract.id = coalesce(:contractId::uuid, line.contract_id) and contract.deleted_at is null
     left join account on account.tenant_id = :tenantId
       and account.id = coalesce(:accountId::uuid, contract.master_account_id)
       and account.deleted_at is null`,
    of,
  );
  if (!row) throw new Error('One row is always selected.');
  return row;
}

function requireService({ serviceId }: Named, { hasService, lineServiceId }: FoundScope): void {
  if (!hasService) {
    throw problem.validation(`'serviceId' names no service: '${serviceId ?? ''}'`, {
      field: 'serviceId',
      value: serviceId,
    });
  }
  requireSame('serviceId', serviceId, lineServiceId, 'the service of the line');
}

/** A percentage may be only of charges in a currency, also where there are none yet. */
function requireCurrency({ kind, currency }: AdjustmentCreate, { contractCurrency }: FoundScope) {
  if (kind === 'discountPercent') return;
  requireSame('currency', currency, contractCurrency, 'the currency of the contract');
}

/** 400: nothing would ever be charged of what is given, because the line or contract has another. */
function requireSame(
  field: 'serviceId' | 'currency',
  given: string | null | undefined,
  own: string | null,
  what: string,
): void {
  if ((given ?? null) === null || own === null || given === own) return;
  throw problem.validation(`'${field}' '${given}' is not ${what}, which is '${own}'`, {
    field,
    value: given,
  });
}
