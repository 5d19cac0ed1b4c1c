import type { Knex } from 'knex';
import type { Decimal } from '../../../kernel/numbers/money.js';
import { BulkTable } from '../../db/bulk-table.js';
import { sqlRows } from '../../db/sql-rows.js';
import { TenantModel } from '../../db/tenant-model.js';
import type { Frequency } from '../../../kernel/time/period.js';
import { Adjustment } from './adjustment.js';

/** Whose charges an adjustment counts: all that are billed to the account, or fewer. */
export interface ChargeScope {
  readonly accountId: string;
  readonly contractId: string | null;
  /** The first of the lines that replaced each other. */
  readonly lineageId: string | null;
  readonly serviceId: string | null;
  readonly currency: string;
}

export interface AdjustmentChargeRow extends ChargeScope {
  readonly id: string;
  readonly adjustmentId: string;
  readonly kind: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly spent: Decimal;
  readonly value: Decimal;
  readonly amount: Decimal;
  readonly uncredited: Decimal;
  readonly returned: Decimal;
  readonly taxCode: string | null;
  readonly invoiceId: string;
  readonly invoiceItemId: string;
}

const table = new BulkTable<AdjustmentChargeRow>('adjustment_charge', {
  id: 'uuid',
  adjustmentId: 'uuid',
  accountId: 'uuid',
  contractId: 'uuid',
  lineageId: 'uuid',
  serviceId: 'uuid',
  kind: 'text',
  currency: 'text',
  periodStart: 'date',
  periodEnd: 'date',
  spent: 'numeric',
  value: 'numeric',
  amount: 'numeric',
  uncredited: 'numeric',
  returned: 'numeric',
  taxCode: 'text',
  invoiceId: 'uuid',
  invoiceItemId: 'uuid',
});

/** A period of an adjustment for which an account was billed. */
export type ChargedPeriod = Pick<AdjustmentCharge, 'adjustmentId' | 'accountId' | 'periodStart'>;

/** Rows that are read at once. */
const pageSize = 2_000;

/** What was billed, or taken off, for a period. */
export class AdjustmentCharge extends TenantModel {
  static override tableName = 'adjustment_charge';

  declare adjustmentId: string;
  declare accountId: string;
  declare contractId: string | null;
  declare lineageId: string | null;
  declare serviceId: string | null;
  declare kind: 'maximum' | 'minimum' | 'commitment';
  declare currency: string;
  declare periodStart: string;
  declare periodEnd: string;
  /** Amounts are decimal text. */
  declare spent: string;
  declare value: string;
  declare amount: string;
  declare uncredited: string;
  declare returned: string;
  declare taxCode: string | null;
  declare invoiceId: string;
  declare invoiceItemId: string;
  declare voidedAt: Date | null;
  /** How long the periods of its adjustment are; only of what `ofAccounts` reads. */
  declare period: Frequency;

  static insertMany(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly AdjustmentChargeRow[],
  ): Promise<void> {
    return table.insert(trx, tenantId, rows);
  }

  /** Voids what an invoice bills for periods, and says for which. */
  static async void(
    trx: Knex.Transaction,
    tenantId: string,
    invoiceId: string,
    voidedAt: Date,
  ): Promise<ChargedPeriod[]> {
    return sqlRows<ChargedPeriod>(
      trx,
      `update adjustment_charge set voided_at = :voidedAt
       where tenant_id = :tenantId and invoice_id = :invoiceId
       returning adjustment_id as "adjustmentId", account_id as "accountId",
         period_start as "periodStart"`,
      { tenantId, invoiceId, voidedAt },
    );
  }

  /**
   * What these accounts were ever billed for periods, voided ones too, by account and first day. In pages: an
   * account of many days has more than may be read at once.
   */
  static async ofAccounts(
    db: Knex,
    tenantId: string,
    accountIds: readonly string[],
  ): Promise<AdjustmentCharge[]> {
    const rows: AdjustmentCharge[] = [];
    for (;;) {
      const page = await AdjustmentCharge.#pageOf(db, tenantId, accountIds, rows.at(-1));
      rows.push(...page);
      if (page.length < pageSize) return rows;
    }
  }

  static #pageOf(
    db: Knex,
    tenantId: string,
    accountIds: readonly string[],
    last: AdjustmentCharge | undefined,
  ) {
    const query = AdjustmentCharge.query(db)
      .forTenant(tenantId)
      .select('adjustment_charge.*')
      .select(
        Adjustment.query(db)
          .forTenant(tenantId)
          .select('period')
          .whereColumn('adjustment.id', 'adjustment_charge.adjustment_id')
          .as('period'),
      )
      .whereRaw('account_id = any(?::uuid[])', [[...accountIds]])
      .orderBy(['accountId', 'periodStart', 'id'])
      .limit(pageSize);
    if (!last) return query;
    const { accountId, periodStart, id } = last;
    return query.whereRaw('(account_id, period_start, id) > (?, ?, ?)', [
      accountId,
      periodStart,
      id,
    ]);
  }
}

/** The charges of a scope on some days, `[first, until)`. */
export interface SpentOf extends ChargeScope {
  readonly first: string;
  readonly until: string;
  /** Usage after this day counts only where it is billed. */
  readonly billedAfter?: string;
}

export interface SpentRow {
  /** The place of the question in the list. */
  readonly place: number;
  readonly taxCode: string | null;
  readonly amount: string;
  /** What grants have paid of it. */
  readonly paid: string;
}

/**
 * What was charged, after discounts, on these days, by tax code: usage that was rated, billed or not, and
 * recurring charges of invoices that are not void. A charge of several rows counts for the first. One
 * statement for all questions.
 */
export async function readSpent(
  db: Knex,
  tenantId: string,
  asked: readonly SpentOf[],
): Promise<SpentRow[]> {
  if (asked.length === 0) return [];
  return sqlRows<SpentRow>(
    db,
    `select asked.place::integer as "place", charge.tax_code as "taxCode",
       sum(charge.amount) as "amount", sum(coalesce(credit.amount, 0)) as "paid"
     ${spentSql}
     left join lateral (
       select -sum(entry.amount) as amount from wallet_entry as entry
       where entry.tenant_id = :tenantId and entry.charge_id = charge.id
     ) as credit on true
     ${ofScopeSql}
     group by 1, 2 order by 1, 2`,
    bindingsOf(tenantId, asked),
  );
}

/** What a grant has paid of a scope on some days. */
export interface SpentCredit {
  readonly place: number;
  readonly walletId: string;
  readonly grantId: string;
  readonly amount: string;
}

/** What grants have paid of these charges, the last that did first. */
export async function readSpentCredits(
  db: Knex,
  tenantId: string,
  asked: readonly SpentOf[],
): Promise<SpentCredit[]> {
  if (asked.length === 0) return [];
  return sqlRows<SpentCredit>(
    db,
    `select asked.place::integer as "place", entry.wallet_id as "walletId",
       entry.grant_id as "grantId", -sum(entry.amount) as "amount"
     ${spentSql}
     join wallet_entry as entry on entry.tenant_id = :tenantId and entry.charge_id = charge.id
     ${ofScopeSql}
     group by 1, 2, 3 having sum(entry.amount) < 0
     order by 1, max(entry.at) desc, max(entry.number) desc`,
    bindingsOf(tenantId, asked),
  );
}

const spentSql = `
     from unnest(:accounts::uuid[], :contracts::uuid[], :lineages::uuid[], :services::uuid[],
       :currencies::text[], :firsts::date[], :untils::date[], :billedAfters::date[])
       with ordinality as asked (account_id, contract_id, lineage_id, service_id, currency, first, until,
       billed_after, place)
     cross join lateral (
       select t.id, t.amount, card_row.tax_code, t.contract_id, t.contract_service_id as line_id,
         t.service_id
       from rated_transaction as t left join rate_card_row as card_row
         on card_row.tenant_id = t.tenant_id
         and card_row.id = coalesce(t.rate_card_row_id, (t.priced_rows -> 0 ->> 'row')::uuid)
       where t.tenant_id = :tenantId and t.account_id = asked.account_id
         and t.currency = asked.currency and t.usage_type = 'Charge'
         and t.transaction_date >= asked.first and t.transaction_date < asked.until
         and (asked.billed_after is null or t.transaction_date <= asked.billed_after or not exists (
           select from unbilled_usage as late where late.tenant_id = :tenantId
             and late.account_id = asked.account_id and late.transaction_date = t.transaction_date
             and late.transaction_id = t.id
         ))
       union all
       select own.id, own.amount, own.tax_code, own.contract_id, own.contract_service_id,
         own.service_id
       from recurring_charge as own
       where own.tenant_id = :tenantId and own.account_id = asked.account_id
         and own.currency = asked.currency and own.usage_type = 'Charge' and own.voided_at is null
         and own.bill_start_date >= asked.first and own.bill_start_date < asked.until
     ) as charge`;

const ofScopeSql = `
     where (asked.contract_id is null or charge.contract_id = asked.contract_id)
       and (asked.service_id is null or charge.service_id = asked.service_id)
       and (asked.lineage_id is null or charge.line_id in (
         select line.id from contract_service as line
         where line.tenant_id = :tenantId
           and (line.id = asked.lineage_id or line.lineage_id = asked.lineage_id)
       ))`;

const bindingsOf = (tenantId: string, asked: readonly SpentOf[]) => ({
  tenantId,
  accounts: asked.map(({ accountId }) => accountId),
  contracts: asked.map(({ contractId }) => contractId),
  lineages: asked.map(({ lineageId }) => lineageId),
  services: asked.map(({ serviceId }) => serviceId),
  currencies: asked.map(({ currency }) => currency),
  firsts: asked.map(({ first }) => first),
  untils: asked.map(({ until }) => until),
  billedAfters: asked.map(({ billedAfter }) => billedAfter ?? null),
});
