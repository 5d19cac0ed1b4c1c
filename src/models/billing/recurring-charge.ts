import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { BulkTable } from '../db/bulk-table.js';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';

export interface RecurringChargeRow {
  readonly id: string;
  readonly accountId: string;
  readonly masterAccountId: string;
  readonly contractId: string;
  readonly contractServiceId: string;
  readonly lineageId: string;
  readonly serviceId: string;
  readonly chargeType: string;
  readonly usageType: string;
  readonly currency: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly billStartDate: string;
  readonly billEndDate: string;
  /** The first day of the line at that time. */
  readonly lineStart: string | null;
  readonly position: number;
  readonly name: string;
  readonly dimensionId: string | null;
  readonly description: string | null;
  readonly priceMethod: string | null;
  readonly volume: Decimal;
  readonly rate: Decimal | null;
  /** After discount, and what that took off. */
  readonly amount: Decimal;
  readonly discount: Decimal;
  /** Identifies the shares of the line; null where the account bears all. */
  readonly sharedBy: string | null;
  readonly isProrated: 'true' | 'false';
  readonly taxCode: string | null;
  readonly planId: string;
  /** JSON. */
  readonly dimensions: string;
  readonly invoiceId: string;
  readonly invoiceItemId: string;
}

const table = new BulkTable<RecurringChargeRow>('recurring_charge', {
  id: 'uuid',
  accountId: 'uuid',
  masterAccountId: 'uuid',
  contractId: 'uuid',
  contractServiceId: 'uuid',
  lineageId: 'uuid',
  serviceId: 'uuid',
  chargeType: 'text',
  usageType: 'text',
  currency: 'text',
  periodStart: 'date',
  periodEnd: 'date',
  billStartDate: 'date',
  billEndDate: 'date',
  lineStart: 'date',
  position: 'integer',
  name: 'text',
  dimensionId: 'uuid',
  description: 'text',
  priceMethod: 'text',
  volume: 'numeric',
  rate: 'numeric',
  amount: 'numeric',
  discount: 'numeric',
  sharedBy: 'uuid',
  isProrated: 'boolean',
  taxCode: 'text',
  planId: 'uuid',
  dimensions: 'jsonb',
  invoiceId: 'uuid',
  invoiceItemId: 'uuid',
});

/** A period of a lineage of lines that is on an invoice that was not voided. */
export interface ChargedPeriod {
  readonly lineageId: string;
  readonly chargeType: string;
  readonly accountId: string;
  readonly masterAccountId: string;
  readonly sharedBy: string | null;
  readonly periodStart: string;
  readonly periodEnd: string;
  /** The first and the last day that were charged. */
  readonly billedFrom: string;
  readonly billedUntil: string;
  /** Whether the price covers these days only. */
  readonly isProrated: boolean;
  /** The earliest day on which the line began when it was charged; null where that is not known. */
  readonly lineStart: string | null;
}

/** A charge whose invoice is void, as figures count it. */
export type VoidedCharge = Pick<
  RecurringCharge,
  | 'id'
  | 'accountId'
  | 'contractId'
  | 'serviceId'
  | 'currency'
  | 'usageType'
  | 'billStartDate'
  | 'amount'
>;

/** A subscription or one-time charge of a contract line, as it was billed. */
export class RecurringCharge extends TenantModel {
  static override tableName = 'recurring_charge';
  static override jsonAttributes = ['dimensions'];

  declare accountId: string;
  declare masterAccountId: string;
  declare contractId: string;
  declare contractServiceId: string;
  /** The first in the chain of replaced lines: none of them is charged twice. */
  declare lineageId: string;
  declare serviceId: string;
  /** Subscription or OTC. */
  declare chargeType: string;
  declare usageType: string;
  declare currency: string;
  declare periodStart: string;
  declare periodEnd: string;
  declare billStartDate: string;
  declare billEndDate: string;
  declare position: number;
  declare name: string;
  declare priceMethod: string | null;
  /** Volumes, rates and amounts are decimal text. */
  declare volume: string;
  declare rate: string | null;
  declare amount: string;
  declare discount: string;
  declare sharedBy: string | null;
  declare isProrated: boolean;
  declare planId: string;
  declare dimensions: Readonly<Record<string, string>>;
  declare invoiceId: string;
  declare invoiceItemId: string;
  declare voidedAt: Date | null;

  static insertMany(
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly RecurringChargeRow[],
  ): Promise<void> {
    return table.insert(trx, tenantId, rows);
  }

  /**
   * The sum of what accounts owe for days that begin in a period, as decimal text; null: of any account,
   * contract or service.
   */
  static async sumOfPeriod(
    db: Knex,
    tenantId: string,
    of: {
      readonly accountId: string | null;
      readonly contractId: string | null;
      readonly serviceId: string | null;
      readonly currency: string;
      readonly start: string;
      readonly end: string;
    },
  ): Promise<string> {
    const chosen = [
      ...(of.accountId === null ? [] : ['and account_id = :accountId']),
      ...(of.contractId === null ? [] : ['and contract_id = :contractId']),
      ...(of.serviceId === null ? [] : ['and service_id = :serviceId']),
    ];
    const [row] = await sqlRows<{ amount: string }>(
      db,
      `select coalesce(sum(amount), 0) as amount from recurring_charge
       where tenant_id = :tenantId and voided_at is null and usage_type = 'Charge'
         and currency = :currency and bill_start_date >= :start::date
         and bill_start_date < :end::date ${chosen.join(' ')}`,
      { ...of, tenantId },
    );
    return row?.amount ?? '0';
  }

  /** Voids the charges of an invoice, and gives them. */
  static async void(
    trx: Knex.Transaction,
    tenantId: string,
    invoiceId: string,
    voidedAt: Date,
  ): Promise<VoidedCharge[]> {
    return sqlRows<VoidedCharge>(
      trx,
      `update recurring_charge set voided_at = :voidedAt
       where tenant_id = :tenantId and invoice_id = :invoiceId
       returning id, account_id as "accountId", contract_id as "contractId",
         service_id as "serviceId", currency, usage_type as "usageType",
         bill_start_date as "billStartDate", amount`,
      { tenantId, invoiceId, voidedAt },
    );
  }

  /** The charges of these lineages: one-time charges, and periods that end on or after a day. */
  static async chargedPeriods(
    db: Knex,
    tenantId: string,
    lineageIds: readonly string[],
    since: string,
  ): Promise<ChargedPeriod[]> {
    if (lineageIds.length === 0) return [];
    const rows = await sqlRows<ChargedPeriod>(
      db,
      `select lineage_id as "lineageId", charge_type as "chargeType",
         account_id as "accountId", master_account_id as "masterAccountId",
         shared_by as "sharedBy", period_start as "periodStart", period_end as "periodEnd",
         min(bill_start_date) as "billedFrom", max(bill_end_date) as "billedUntil",
         bool_or(is_prorated) as "isProrated", min(line_start) as "lineStart"
       from recurring_charge
       where tenant_id = ? and lineage_id = any(?::uuid[]) and voided_at is null
         and (period_end >= ?::date or period_end = '0001-01-01')
       group by 1, 2, 3, 4, 5, 6, 7`,
      [tenantId, [...lineageIds], since],
    );
    return rows;
  }
}
