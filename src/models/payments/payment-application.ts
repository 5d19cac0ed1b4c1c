import type { Knex } from 'knex';
import type { Decimal } from '../../kernel/numbers/money.js';
import { newId } from '../../kernel/id.js';
import { BulkTable } from '../db/bulk-table.js';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';

/** So much of a payment for an invoice. */
export interface Application {
  readonly invoiceId: string;
  readonly amount: Decimal;
}

const table = new BulkTable<PaymentOfInvoice & { readonly id: string }>('payment_application', {
  id: 'uuid',
  paymentId: 'uuid',
  invoiceId: 'uuid',
  amount: 'numeric',
});

/** An application with the id of its payment. */
export interface PaymentOfInvoice extends Application {
  readonly paymentId: string;
}

/** An amount of a payment that is applied to an invoice. */
export class PaymentApplication extends TenantModel {
  static override tableName = 'payment_application';

  declare paymentId: string;
  declare invoiceId: string;
  /** Decimal text. */
  declare amount: string;
  declare createdAt: Date;

  /** Applies payments to invoices, both of which the caller holds; balances of both follow. */
  static async add(
    trx: Knex.Transaction,
    tenantId: string,
    applications: readonly PaymentOfInvoice[],
  ): Promise<void> {
    const rows = applications.map((application) => ({ id: newId(), ...application }));
    const more =
      'on conflict (tenant_id, payment_id, invoice_id) do update ' +
      'set amount = payment_application.amount + excluded.amount';
    await table.insert(trx, tenantId, rows, more);
    await followInvoices(
      trx,
      tenantId,
      applications.map(({ invoiceId }) => invoiceId),
    );
    await followPayments(
      trx,
      tenantId,
      applications.map(({ paymentId }) => paymentId),
    );
  }

  /** Reduces the amounts of a payment that are applied to these invoices; the caller holds both. */
  static async remove(
    trx: Knex.Transaction,
    tenantId: string,
    paymentId: string,
    applications: readonly Application[],
  ): Promise<void> {
    const ids = applications.map(({ invoiceId }) => invoiceId);
    const given = [ids, applications.map(({ amount }) => amount.toFixed())];
    await sqlRows(
      trx,
      `with given as (select * from unnest(?::uuid[], ?::numeric[]) as given (invoice_id, amount)),
       gone as (
         delete from payment_application as one using given
         where one.tenant_id = ? and one.payment_id = ? and one.invoice_id = given.invoice_id
           and one.amount <= given.amount
       )
       update payment_application as one set amount = one.amount - given.amount from given
       where one.tenant_id = ? and one.payment_id = ? and one.invoice_id = given.invoice_id
         and one.amount > given.amount`,
      [...given, tenantId, paymentId, tenantId, paymentId],
    );
    await followInvoices(trx, tenantId, ids);
    await followPayments(trx, tenantId, [paymentId]);
  }

  /**
   * Removes the applications to a voided invoice; their payments get the amounts back as `freed`.
   */
  static async release(trx: Knex.Transaction, tenantId: string, invoiceId: string): Promise<void> {
    await sqlRows(
      trx,
      `with gone as (
         delete from payment_application where tenant_id = :tenantId and invoice_id = :invoiceId
         returning payment_id, amount
       ), given as (
         select payment_id, sum(amount) as amount from gone group by 1
       )
       update payment set updated_at = now(),
         balance = balance + given.amount, freed = freed + given.amount,
         balance_status = case when balance + given.amount = payment.amount then 'Unapplied'
           else 'Partially Applied' end
       from given where payment.tenant_id = :tenantId and payment.id = given.payment_id`,
      { tenantId, invoiceId },
    );
  }

  /**
   * Takes back what is applied to an invoice beyond what is left of it since it was credited, the latest
   * first; balances of both follow. Answers with the ids of the payments.
   */
  static async takeBackOverpaid(
    trx: Knex.Transaction,
    tenantId: string,
    invoiceId: string,
  ): Promise<readonly string[]> {
    const rows = await sqlRows<{ paymentId: string }>(
      trx,
      `with placed as (
         select one.id, one.payment_id, one.amount,
           sum(one.amount) over (order by one.created_at desc, one.id desc) - one.amount as before,
           sum(one.amount) over () - invoice.amount - invoice.tax_amount + invoice.credited_amount
             as over
         from payment_application as one join invoice
           on invoice.tenant_id = one.tenant_id and invoice.id = one.invoice_id
         where one.tenant_id = :tenantId and one.invoice_id = :invoiceId
       ), taken as (
         select id, payment_id, amount, least(amount, over - before) as back from placed
         where over > before
       ), gone as (
         delete from payment_application as one using taken
         where one.tenant_id = :tenantId and one.id = taken.id and taken.back = taken.amount
       ), less as (
         update payment_application as one set amount = taken.amount - taken.back from taken
         where one.tenant_id = :tenantId and one.id = taken.id and taken.back < taken.amount
       )
       select payment_id as "paymentId" from taken order by 1`,
      { tenantId, invoiceId },
    );
    const ids = rows.map(({ paymentId }) => paymentId);
    if (ids.length > 0) {
      // One may have been applied since the caller held those that it saw.
      await sqlRows(
        trx,
        `select count(*) from (
           select from payment where tenant_id = ? and id = any(?::uuid[]) order by id for update
         ) as held`,
        [tenantId, ids],
      );
      await followPayments(trx, tenantId, ids);
    }
    await followInvoices(trx, tenantId, [invoiceId]);
    return ids;
  }

  /** Computes the balances of invoices again, which the caller holds. */
  static follow(
    trx: Knex.Transaction,
    tenantId: string,
    invoiceIds: readonly string[],
  ): Promise<void> {
    return followInvoices(trx, tenantId, invoiceIds);
  }

  /** How many invoices payments pay; those that pay none are not in it. */
  static async countByPayment(
    trx: Knex.Transaction,
    tenantId: string,
    ids: readonly string[],
  ): Promise<Map<string, number>> {
    const rows = await sqlRows<{ id: string; count: number }>(
      trx,
      `select payment_id as id, count(*)::integer as count from payment_application
       where tenant_id = ? and payment_id = any(?::uuid[]) group by 1`,
      [tenantId, ids],
    );
    return new Map(rows.map(({ id, count }) => [id, count]));
  }

  /** Reduces `freed` by the amounts that are applied. */
  static async use(
    trx: Knex.Transaction,
    tenantId: string,
    applications: readonly PaymentOfInvoice[],
  ): Promise<void> {
    await sqlRows(
      trx,
      `update payment set freed = greatest(0, freed - given.amount)
       from (
         select id, sum(amount) as amount from unnest(?::uuid[], ?::numeric[]) as one (id, amount)
         group by id
       ) as given
       where payment.tenant_id = ? and payment.id = given.id`,
      [
        applications.map(({ paymentId }) => paymentId),
        applications.map(({ amount }) => amount.toFixed()),
        tenantId,
      ],
    );
  }
}

/** Recomputes the balances of payments, which the caller holds, from their applications; as invoices below. */
async function followPayments(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  await sqlRows(
    trx,
    `with applied as materialized (
       select jsonb_object_agg(payment_id, amount) as by_payment from (
         select payment_id, sum(amount) as amount from payment_application
         where tenant_id = :tenantId and payment_id = any(:ids::uuid[]) group by 1
       ) as one
     ), left_over as materialized (
       select one.ctid as place,
         one.amount - coalesce((applied.by_payment ->> one.id::text)::numeric, 0) as balance
       from applied, payment as one where one.tenant_id = :tenantId and one.id = any(:ids::uuid[])
     )
     update payment set balance = left_over.balance, updated_at = now(),
       balance_status = case when left_over.balance = amount then 'Unapplied'
         when left_over.balance = 0 then 'Applied' else 'Partially Applied' end,
       freed = least(freed, left_over.balance)
     from left_over where payment.ctid = left_over.place`,
    { tenantId, ids },
  );
}

/**
 * Recomputes what is owed and not paid of invoices and, in their order, of their items; the caller holds them.
 * Rows are changed at their places and each table is read once: joined by ids, all invoices of a tenant that the
 * statistics do not know yet were read for each of them (docs/decisions/0498).
 */
async function followInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  await sqlRows(
    trx,
    `with paid as materialized (
       select jsonb_object_agg(invoice_id, amount) as by_invoice from (
         select invoice_id, sum(amount) as amount from payment_application
         where tenant_id = :tenantId and invoice_id = any(:ids::uuid[]) group by 1
       ) as one
     ), open as materialized (
       select one.ctid as place, one.amount + one.tax_amount - one.credited_amount as owed,
         coalesce((paid.by_invoice ->> one.id::text)::numeric, 0) as paid
       from paid, invoice as one where one.tenant_id = :tenantId and one.id = any(:ids::uuid[])
     )
     update invoice set balance = open.owed - open.paid, updated_at = now(),
       payment_status = case when open.paid = open.owed then 'Paid'
         when open.paid = 0 then 'Unpaid' else 'Partially Paid' end
     from open where invoice.ctid = open.place`,
    { tenantId, ids },
  );
  await sqlRows(
    trx,
    `with state as materialized (
       select jsonb_object_agg(id, balance) as open,
         jsonb_object_agg(id, amount + tax_amount - credited_amount - balance) as paid
       from invoice where tenant_id = :tenantId and id = any(:ids::uuid[])
     ), owed as materialized (
       select item.ctid as place, item.invoice_id::text as invoice_id, owed.total,
         sum(greatest(owed.total, 0)) over (
           partition by item.invoice_id order by item.position
         ) as until
       from invoice_item as item, lateral (
         select item.amount + item.tax - item.credited_amount - item.credited_tax as total
       ) as owed
       where item.tenant_id = :tenantId and item.invoice_id = any(:ids::uuid[])
     )
     update invoice_item as item set balance = case
         when (state.open ->> owed.invoice_id)::numeric = 0 then 0
         when owed.total <= 0 then owed.total
         else greatest(0, least(owed.total,
           owed.until - (state.paid ->> owed.invoice_id)::numeric)) end
     from owed, state where item.ctid = owed.place`,
    { tenantId, ids },
  );
}
