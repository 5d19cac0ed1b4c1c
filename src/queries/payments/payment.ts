import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Payment } from '../../models/payments/payment.js';
import { readRecords } from '../../models/db/read-records.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/payments/payment.js';
import { listRecords } from '../lists/resource-list.js';

export type PaymentDto = Static<typeof schema.Payment>;

export const presentPayment = presenterOf(schema.Payment);

export const missingPayment = (id: string) => problem.notFound(`There is no payment '${id}'.`);

const paymentList = {
  model: Payment,
  orderBy: 'payment_date desc, id desc',
  searched: ['payment_reference', 'comments', 'participant_name'],
  filters: { accountId: 'account_id =' },
};

/** One page of payments, the latest first; `q` is part of the reference, comments or participant. */
export async function listPayments(
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
  filter: { readonly accountId?: string } = {},
): Promise<Listed<PaymentDto>> {
  const { items, total } = await listRecords(paymentList, scope, { page, q, filter });
  return { items: items.map(presentPayment), total };
}

const paymentsSql = `
  select * from payment
  where tenant_id = $1 and deleted_at is null and id = any($2::uuid[]) order by id`;

/** Those of the payments that there are. */
export async function readPayments(
  db: Knex,
  tenantId: string,
  ids: readonly string[],
): Promise<PaymentDto[]> {
  const payments = await readRecords(Payment, db, tenantId, paymentsSql, [ids]);
  return payments.map(presentPayment);
}

/** A payment by id. 404: there is none. */
export async function getPayment(scope: Scope, id: string): Promise<PaymentDto> {
  return readPayment(scope.db.read, scope.tenantId, id);
}

/** A payment by id, inside the transaction of a flow. 404: there is none. */
export async function readPayment(trx: Knex, tenantId: string, id: string): Promise<PaymentDto> {
  const [payment] = await readRecords(Payment, trx, tenantId, paymentsSql, [[id]]);
  if (!payment) throw missingPayment(id);
  return presentPayment(payment);
}
