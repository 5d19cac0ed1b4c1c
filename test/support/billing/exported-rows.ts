import type pg from 'pg';

const idOf =
  (kind: string) =>
  (number: number): string =>
    `0000000${kind}-0000-7000-8000-00000000000${number}`;

export const ids = {
  account: idOf('1'),
  service: idOf('2'),
  event: idOf('3'),
  charge: idOf('4'),
  invoice: idOf('5'),
  item: idOf('6'),
  payment: idOf('7'),
  correction: idOf('8'),
};

/**
 * Writes a few rows of each kind that is exported, with values that are hard to write down: long decimals,
 * quotation marks, line breaks, formulas, nulls. `mark` is in texts that must differ. As the owner.
 */
export async function fillExports(db: pg.Client, tenantId: string, mark = ''): Promise<void> {
  const insert = (sql: string) => db.query(sql.replaceAll('$T', `'${tenantId}'`));
  const { account, service, event, charge, invoice, item, payment, correction } = ids;
  await insert(`insert into account (tenant_id, id, name, number, external_id, default_currency) values
    ($T, '${account(1)}', 'Account 1${mark}', 'A-1', 'acct-1', 'USD')`);
  await insert(`insert into account (tenant_id, id, name, default_currency) values
    ($T, '${account(2)}', 'Account 2${mark}', 'USD')`);
  await insert(`insert into service (tenant_id, id, name, service_type, service_status) values
    ($T, '${service(1)}', 'Calls${mark}', 'Usage', 'Active')`);
  await insert(`insert into usage_event (tenant_id, id, partition, "offset", org_id,
      external_transaction_id, status, code, reason, account_id, service_id, event_at, message,
      workflow_id, run_id, received_at, processed_at) values
    ($T, '${event(1)}', 0, 1, 'org', 'txn "1" 100%', 'rated', null, null, '${account(1)}',
     '${service(1)}', '2026-03-01T10:00:00.000001Z', '{ "a":' || chr(10) || '1.10 }', 'w',
     gen_random_uuid(), '2026-03-02', '2026-03-02'),
    ($T, '${event(2)}', 0, 2, null, null, 'rejected', 'INVALID_MESSAGE', 'no JSON', null, null, null,
     'no JSON', 'w', gen_random_uuid(), '2026-03-02', '2026-03-02')`);
  const long = '12345678901234567890.123456789';
  const charges = [
    [1, 'txn "1" 100%', '2026-03-01', account(1), long, '0.00000000000000000001', 'Charge'],
    [2, 'txn-2', '2026-03-01', account(2), '2.50', '3', 'Payout'],
    [3, 'txn-3', '2026-03-02', account(1), '-1', '1000', 'Charge'],
  ] as const;
  for (const [n, external, day, billed, amount, quantity, usageType] of charges) {
    await insert(`insert into rated_transaction (tenant_id, id, usage_event_id, external_tran_id,
        transaction_date, account_id, master_account_id, service_id, amount, quantity, currency,
        usage_type, charge_type, plan_id, rated_at) values
      ($T, '${charge(n)}', '${event(1)}', '${external}', '${day}', '${billed}', '${account(1)}',
       '${service(1)}', ${amount}, ${quantity}, 'USD', '${usageType}', 'Usage', gen_random_uuid(),
       '2026-03-02T00:00:00.123456Z')`);
  }
  await insert(`insert into usage_correction (tenant_id, id, kind, reason, actor, execution_id,
      event_id, scope, events, changed, rejected, before, after, accounts, created_at) values
    ($T, '${correction(1)}', 'amend', 'wrong "unit"', 'ada', '${correction(2)}', '${event(1)}', '{}',
     1, 1, '[]', '[]', '[]', '[]', '2026-03-03T00:00:00.000001Z')`);
  await insert(`insert into usage_correction_charge (tenant_id, correction_id, position, event_id,
      before_id, after_id) values
    ($T, '${correction(1)}', 0, '${event(1)}', '${charge(2)}', '${charge(3)}'),
    ($T, '${correction(1)}', 1, '${event(1)}', '${charge(2)}', null)`);
  await insert(`insert into payment (tenant_id, id, account_id, currency, amount, balance,
      payment_reference, payment_method, payment_type, payment_date, balance_status,
      is_manual_payment, comments, participant_name) values
    ($T, '${payment(1)}', '${account(1)}', 'USD', 100.50, 0.50, '=1+1', 'Cash', 'Pay In',
     '2026-03-05', 'Partially Applied', true, 'two' || chr(10) || 'lines', 'A "B", C'),
    ($T, '${payment(2)}', '${account(2)}', 'USD', 7, 7, 'ref-2', 'Cash', 'Pay In', '2026-03-06',
     'Unapplied', true, '', null)`);
  await insert(`insert into payment (tenant_id, id, account_id, currency, amount, balance,
      payment_reference, payment_method, payment_type, payment_date, deleted_at) values
    ($T, '${payment(3)}', '${account(1)}', 'USD', 1, 1, 'gone', 'Cash', 'Pay In', '2026-03-05', now())`);
  await insert(`insert into invoice (tenant_id, id, invoice_no, invoice_date, due_date, period_start,
      period_end, account_id, invoice_status, invoice_type, currency, amount, tax_amount, balance,
      voided_at, void_reason) values
    ($T, '${invoice(1)}', 'INV-000001', '2026-04-01', '2026-05-01', '2026-03-01', '2026-03-31',
     '${account(1)}', 'Posted', 'Invoice', 'USD', 30.50, 3.05, 33.55, null, null),
    ($T, '${invoice(2)}', 'INV-000002', '2026-04-02', null, null, null, '${account(2)}', 'Void',
     'Invoice', 'USD', 1, 0, 0, '2026-04-03', 'wrong')`);
  await insert(`insert into invoice_item (tenant_id, id, invoice_id, position, volume, amount, tax,
      balance, charge_type) values
    ($T, '${item(1)}', '${invoice(1)}', 1, 2, 20, 2, 22, 'Usage'),
    ($T, '${item(2)}', '${invoice(1)}', 0, 1, 10.5, 1.05, 11.55, 'Usage'),
    ($T, '${item(3)}', '${invoice(2)}', 0, 1, 1, 0, 0, 'Usage')`);
}
