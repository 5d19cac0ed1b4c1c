import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { Contract } from '../../models/contracts/contract.js';
import { Invoice } from '../../models/billing/invoice.js';
import { Payment } from '../../models/payments/payment.js';
import { Service } from '../../models/catalog/service.js';
import { BillingRecord, type TenantModel } from '../../models/db/tenant-model.js';
import { Wallet } from '../../models/payments/wallet.js';
import type { KeyedRecord } from '../../schemas/http/record-id.js';

interface Keyed {
  readonly model: typeof TenantModel;
  /** Natural keys, the most specific first. */
  readonly keys: readonly string[];
}

const records: Readonly<Record<KeyedRecord, Keyed>> = {
  account: { model: Account, keys: ['externalId', 'number'] },
  contract: { model: Contract, keys: ['number'] },
  invoice: { model: Invoice, keys: ['invoiceNo'] },
  payment: { model: Payment, keys: ['paymentReference'] },
  service: { model: Service, keys: ['name', 'code'] },
  wallet: { model: Wallet, keys: ['title'] },
};

/**
 * The ids of the records that these natural keys name, with one query. If several share a key, as
 * copies of a service share its code, the oldest one is meant: the original.
 */
export async function findByNaturalKeys(
  { db, tenantId }: Scope,
  record: KeyedRecord,
  texts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { model, keys } = records[record];
  const query = model
    .query(db.read)
    .forTenant(tenantId)
    .select('id', ...keys)
    .where((group) => {
      for (const key of keys) void group.orWhereIn(key, [...texts]);
    })
    .orderBy('id', 'desc');
  const isSoftDeleted = Reflect.get(model, 'prototype') instanceof BillingRecord;
  const rows = (await (isSoftDeleted ? query.existing() : query)) as unknown as Readonly<
    Record<string, string | null>
  >[];
  const found = new Map<string, string>();
  // Later entries overwrite earlier ones: the more specific key, and within one key the older
  // record.
  for (const key of [...keys].reverse()) {
    for (const { id, [key]: text } of rows) {
      if (id && typeof text === 'string') found.set(text, id);
    }
  }
  return found;
}
