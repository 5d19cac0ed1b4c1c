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

  /** Reduces the amounts of a payment that are applied to these invoices. */
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
    if (ids.length > 0) await followPayments(trx, tenantId, ids);
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

/** Recomputes the balances of payments from their applications. */
async function followPayments(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  await sqlRows(
    trx,
    `update payment set balance = left_over.balance, updated_at = now(),
       balance_status = case when left_over.balance = amount then 'Unapplied'
         when left_over.balance = 0 then 'Applied' else 'Partially Applied' end,
       freed = least(freed, left_over.balance)
     from (
       select payment.id, payment.amount - coalesce(sum(one.amount), 0) as balance
       from payment left join payment_application as one
         on one.tenant_id = payment.tenant_id and one.payment_id = payment.id
       where payment.tenant_id = ? and payment.id = any(?::uuid[])
       group by payment.id, payment.amount
     ) as left_over
     where payment.tenant_id = ? and payment.id = left_over.id`,
    [tenantId, [...ids], tenantId],
  );
}

/** Recomputes what is owed and not paid of invoices and, in their order, of their items. */
async function followInvoices(
  trx: Knex.Transaction,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  const bindings = [tenantId, ids, tenantId];
  await sqlRows(
    trx,
    `update invoice set balance = open.owed - open.paid, updated_at = now(),
       payment_status = case when open.paid = open.owed then 'Paid'
         when open.paid = 0 then 'Unpaid' else 'Partially Paid' end
     from (
       select invoice.id, amount + tax_amount - credited_amount as owed, coalesce((
         select sum(one.amount) from payment_application as one
         where one.tenant_id = invoice.tenant_id and one.invoice_id = invoice.id
       ), 0) as paid
       from invoice where tenant_id = ? and id = any(?::uuid[])
     ) as open
     where invoice.tenant_id = ? and invoice.id = open.id`,
    bindings,
  );
  await sqlRows(
    trx,
    `update invoice_item as item set balance = case
         when share.open = 0 then 0
         when share.total <= 0 then share.total
         else greatest(0, least(share.total, share.until - share.paid)) end
     from (
       select owed.id, owed.total, invoice.balance as open,
         invoice.amount + invoice.tax_amount - invoice.credited_amount - invoice.balance as paid,
         sum(greatest(owed.total, 0)) over (
           partition by invoice.id order by owed.position
         ) as until
       from invoice join lateral (
         select item.id, item.position,
           item.amount + item.tax - item.credited_amount - item.credited_tax as total
         from invoice_item as item
         where item.tenant_id = invoice.tenant_id and item.invoice_id = invoice.id
       ) as owed on true
       where invoice.tenant_id = ? and invoice.id = any(?::uuid[])
     ) as share
     where item.tenant_id = ? and item.id = share.id`,
    bindings,
  );
}
