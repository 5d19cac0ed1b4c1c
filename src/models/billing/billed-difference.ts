import type { Knex } from 'knex';
import { Decimal, ZERO } from '../../kernel/numbers/money.js';
import { BulkTable } from '../db/bulk-table.js';
import { sqlRows } from '../db/sql-rows.js';

/** The items of an invoice that a difference is about: usage of one service, attribute and tax code. */
export interface ItemFamily {
  readonly serviceId: string | null;
  readonly dimensionId: string | null;
  readonly taxCode: string | null;
}

export const familyKey = ({ serviceId, dimensionId, taxCode }: ItemFamily): string =>
  `${serviceId ?? ''}/${dimensionId ?? ''}/${taxCode ?? ''}`;

/** An amount before discounts and credits, and what both take off it. */
export interface GivenBack {
  readonly amount: Decimal;
  readonly discounted: Decimal;
  readonly credited: Decimal;
}

export const nothingBack: GivenBack = { amount: ZERO, discounted: ZERO, credited: ZERO };

export const plusBack = (one: GivenBack, other: GivenBack): GivenBack => ({
  amount: one.amount.plus(other.amount),
  discounted: one.discounted.plus(other.discounted),
  credited: one.credited.plus(other.credited),
});

export interface BilledDifferenceRow extends GivenBack, ItemFamily {
  readonly id: string;
  readonly invoiceId: string;
  readonly correctedInvoiceId: string;
  readonly accountId: string;
  readonly currency: string;
  /** Null where it is of a period of an adjustment, which is named then. */
  readonly serviceId: string | null;
  readonly adjustmentId: string | null;
  readonly adjustedFrom: string | null;
  readonly isCredited: 'true' | 'false';
}

const table = new BulkTable<BilledDifferenceRow>('billed_difference', {
  id: 'uuid',
  invoiceId: 'uuid',
  correctedInvoiceId: 'uuid',
  accountId: 'uuid',
  currency: 'text',
  serviceId: 'uuid',
  dimensionId: 'uuid',
  taxCode: 'text',
  amount: 'numeric',
  discounted: 'numeric',
  credited: 'numeric',
  isCredited: 'boolean',
  adjustmentId: 'uuid',
  adjustedFrom: 'date',
});

/** What later invoices have given back of a family of an invoice's items. */
export interface FamilyDifferences extends ItemFamily {
  readonly invoiceId: string;
  readonly invoiceNo: string;
  readonly accountId: string;
  readonly currency: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly serviceId: string;
  /** What the invoice charges, before discounts, and what notes have credited of it. */
  readonly charged: Decimal;
  readonly exact: Decimal;
  readonly noted: Decimal;
  /** What corrections came to, below zero where they gave back. */
  readonly differences: GivenBack;
  /** What of it notes had credited before. */
  readonly creditedBefore: GivenBack;
}

type Texts<T> = { readonly [K in keyof T]: T[K] extends Decimal ? string : T[K] };
type FamilyRow = Texts<Omit<FamilyDifferences, 'differences' | 'creditedBefore'>> & {
  readonly amounts: readonly [string, string, string, string, string, string];
};

export const BilledDifference = {
  insertMany: (
    trx: Knex.Transaction,
    tenantId: string,
    rows: readonly BilledDifferenceRow[],
  ): Promise<void> => table.insert(trx, tenantId, rows),

  async void(
    trx: Knex.Transaction,
    tenantId: string,
    invoiceId: string,
    voidedAt: Date,
  ): Promise<void> {
    await sqlRows(
      trx,
      `update billed_difference set voided_at = ?
       where tenant_id = ? and invoice_id = ? and voided_at is null`,
      [voidedAt, tenantId, invoiceId],
    );
  },

  /**
   * The families of these invoices, and of those of which something that notes had credited was billed to
   * these accounts.
   */
  async families(
    db: Knex,
    tenantId: string,
    asked: { readonly invoiceIds: readonly string[]; readonly accountIds: readonly string[] },
  ): Promise<FamilyDifferences[]> {
    const rows = await sqlRows<FamilyRow>(
      db,
      `with asked as (
         select unnest(:invoiceIds::uuid[]) as id
         union
         select corrected_invoice_id from billed_difference
         where tenant_id = :tenantId and account_id = any(:accountIds::uuid[])
           and is_credited and voided_at is null and adjustment_id is null
       ), charged as (
         select invoice.id, invoice.invoice_no, invoice.account_id, invoice.currency,
           invoice.period_start, invoice.period_end, item.service_id, item.dimension_id, item.tax_code, sum(item.amount) as charged,
           sum(coalesce(item.exact_amount, item.amount)) as exact,
           sum(item.credited_amount) as noted
         from asked join invoice on invoice.tenant_id = :tenantId and invoice.id = asked.id
         join invoice_item as item on item.tenant_id = :tenantId and item.invoice_id = invoice.id
         where invoice.invoice_type = 'Invoice' and not invoice.is_reversed
           and item.charge_type = 'Usage' and item.service_id is not null
         group by 1, 2, 3, 4, 5, 6, 7, 8, 9
       )
       select charged.id as "invoiceId", invoice_no as "invoiceNo", charged.account_id as "accountId",
         charged.currency, period_start::text as "periodStart", period_end::text as "periodEnd",
         charged.service_id as "serviceId",
         charged.dimension_id as "dimensionId", charged.tax_code as "taxCode",
         charged, exact, noted, array[
           coalesce(sum(amount) filter (where not is_credited), 0),
           coalesce(sum(discounted) filter (where not is_credited), 0),
           coalesce(sum(credited) filter (where not is_credited), 0),
           coalesce(sum(amount) filter (where is_credited), 0),
           coalesce(sum(discounted) filter (where is_credited), 0),
           coalesce(sum(credited) filter (where is_credited), 0)
         ]::text[] as amounts
       from charged left join billed_difference as one on one.tenant_id = :tenantId
         and one.corrected_invoice_id = charged.id and one.voided_at is null
         and one.service_id = charged.service_id
         and one.dimension_id is not distinct from charged.dimension_id
         and one.tax_code is not distinct from charged.tax_code
       group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 order by 1, 7, 8, 9`,
      { tenantId, invoiceIds: [...asked.invoiceIds], accountIds: [...asked.accountIds] },
    );
    return rows.map(({ amounts, charged, exact, noted, ...row }) => {
      const [amount, discounted, credited, ...before] = amounts.map((text) => new Decimal(text));
      return {
        ...row,
        charged: new Decimal(charged),
        exact: new Decimal(exact),
        noted: new Decimal(noted),
        differences: backOf([amount, discounted, credited]),
        creditedBefore: backOf(before),
      };
    });
  },
};

const backOf = ([amount, discounted, credited]: readonly (Decimal | undefined)[]): GivenBack => ({
  amount: amount ?? ZERO,
  discounted: discounted ?? ZERO,
  credited: credited ?? ZERO,
});
