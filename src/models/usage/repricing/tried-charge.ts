import type { Knex } from 'knex';
import { boundsOf } from '../../../kernel/id.js';
import { arrayLiteral, jsonSeparatorSql, splitJson } from '../../../kernel/text/postgres-array.js';
import { amongSql, sqlRows } from '../../db/sql-rows.js';
import { movePlaces } from '../corrections/charge-place.js';
import { readPricedRows, type PricedRow } from '../priced-row.js';
import { readByEvent, type RatedTransaction } from '../rated-transaction.js';

/** A priced row as far as it says how its event has moved a counter. */
export type TriedRow = Pick<
  PricedRow,
  'counterId' | 'counterBefore' | 'volume' | 'sharedVolume' | 'countedValue'
>;

/** What a what-if needs of a charge: half of its columns, of millions. */
export interface TriedCharge extends Pick<
  RatedTransaction,
  | 'id'
  | 'usageEventId'
  | 'transactionDate'
  | 'accountId'
  | 'masterAccountId'
  | 'serviceId'
  | 'contractId'
  | 'contractServiceId'
  | 'amount'
  | 'currency'
  | 'usageType'
  | 'planId'
  | 'shareOf'
  | 'reverses'
> {
  dimensions: readonly TriedRow[];
}

/**
 * Charges as one text, which is cheaper to read than rows with their columns.
 */
const chargesSql = `
  select string_agg(concat(
    t.id, '|', t.usage_event_id, '|', t.transaction_date, '|', t.account_id, '|',
    t.master_account_id, '|', t.service_id, '|', t.contract_id, '|', t.contract_service_id, '|',
    t.amount, '|', t.currency, '|', t.usage_type, '|', t.plan_id, '|', t.share_of, '|', t.reverses,
    '|', t.rate_card_row_id is not null, '|', coalesce(t.row_volume, t.quantity), '|',
    t.counter_id, '|', t.counter_before
  ), ${jsonSeparatorSql} order by t.id) as charges
  from rated_transaction as t
  where t.tenant_id = :tenantId and ${amongSql('t.id')}`;

const orNull = (text: string | undefined): string | null => text || null;

/** A charge, and whether its priced rows are elsewhere. */
function readCharge(text: string): readonly [TriedCharge, boolean] {
  const [
    id = '',
    usageEventId = '',
    transactionDate = '',
    accountId = '',
    masterAccountId = '',
    serviceId = '',
    contractId,
    contractServiceId,
    amount = '',
    currency = '',
    usageType = '',
    planId = '',
    shareOf,
    reverses,
    hasOneRow,
    volume = '',
    counterId,
    counterBefore,
  ] = text.split('|');
  const row: TriedRow = {
    counterId: orNull(counterId),
    counterBefore: orNull(counterBefore),
    volume,
    sharedVolume: null,
    countedValue: null,
  };
  const charge: TriedCharge = {
    id,
    usageEventId,
    transactionDate,
    accountId,
    masterAccountId,
    serviceId,
    contractId: orNull(contractId),
    contractServiceId: orNull(contractServiceId),
    amount,
    currency,
    usageType,
    planId,
    shareOf: orNull(shareOf),
    reverses: orNull(reverses),
    dimensions: hasOneRow === 't' ? [row] : [],
  };
  return [charge, hasOneRow !== 't'];
}

/** All charges of events, with reversals and what they reverse, as far as a what-if needs them. */
export function readTriedCharges(
  db: Knex,
  tenantId: string,
  eventIds: readonly string[],
): Promise<Map<string, TriedCharge[]>> {
  return readByEvent(eventIds, async (ids) => {
    const [found] = await sqlRows<{ charges: string | null }>(db, chargesSql, {
      tenantId,
      ids: arrayLiteral(ids),
      ...boundsOf(ids),
    });
    const read = found?.charges ? splitJson(found.charges).map(readCharge) : [];
    const others = read.flatMap(([{ id }, isElsewhere]) => (isElsewhere ? [id] : []));
    const rows = await readPricedRows(db, tenantId, others);
    const charges = read.map(([charge, isElsewhere]) => {
      if (isElsewhere) charge.dimensions = rows.get(charge.id) ?? [];
      return charge;
    });
    await movePlaces(db, tenantId, charges, null);
    return charges;
  });
}
