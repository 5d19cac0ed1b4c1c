import type { Knex } from 'knex';
import { tookTooLong } from '../../kernel/sql-state.js';
import type { CatalogOwner } from '../../models/catalog/attribute.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** The days on which a version of a card is in force. */
export interface DaysInForce {
  readonly currency: string;
  /** Null: all days before those of the next version. */
  readonly first: string | null;
  /** The first day of the version that follows; null: there is none. */
  readonly end: string | null;
}

/** A version whose usage cannot be counted in this time is made without the figure. */
const countMs = 10_000;

/** SQL: lines of a service, deleted ones too, in whose place a line with an exception card stands. */
const pricedAlone = `
  select line.id from contract_service as line
  where line.tenant_id = :tenantId and line.service_id = :id
    and coalesce(line.lineage_id, line.id) in (
      select coalesce(own.lineage_id, own.id) from contract_service as own join rate_card as card
        on card.tenant_id = own.tenant_id and card.contract_service_id = own.id
      where own.tenant_id = :tenantId and own.service_id = :id and own.deleted_at is null
        and card.currency = :currency and card.deleted_at is null)`;

/** SQL: a line with those that it has replaced. */
const ofLine = `
  select line.id from contract_service as line
  where line.tenant_id = :tenantId and coalesce(line.lineage_id, line.id) = (
    select coalesce(own.lineage_id, own.id) from contract_service as own
    where own.tenant_id = :tenantId and own.id = :id)`;

/** A charge that was taken back has a reversal, with which it counts for nothing. */
const countSql = (owner: CatalogOwner): string => `
  select count(*)::integer as events from (
    select charge.usage_event_id from rated_transaction as charge
    where charge.tenant_id = :tenantId and charge.currency = :currency
      and charge.transaction_date >= coalesce(:first::date, '-infinity')
      and charge.transaction_date < coalesce(:end::date, 'infinity')
      and ${
        'serviceId' in owner
          ? `charge.service_id = :id and not exists (
               select from (${pricedAlone}) as line where line.id = charge.contract_service_id)`
          : `charge.contract_service_id in (${ofLine})`
      }
    group by charge.usage_event_id
    having sum(case when charge.reverses is null then 1 else -1 end) > 0
  ) as event`;

/**
 * How many rated events a version would price if usage was rated again: those of its currency on its
 * days, of lines with an exception card for the card of that line, all others for the card of the
 * service. Null where they are too many to be counted in time.
 */
export async function countAffectedEvents(
  trx: Knex.Transaction,
  tenantId: string,
  owner: CatalogOwner,
  { currency, first, end }: DaysInForce,
): Promise<number | null> {
  const id = 'serviceId' in owner ? owner.serviceId : owner.contractServiceId;
  try {
    return await trx.transaction(async (nested) => {
      const [limit] = await sqlRows<{ before: string }>(
        nested,
        `select before, set_config('statement_timeout', ?, true)
         from (select current_setting('statement_timeout') as before) as setting`,
        [String(countMs)],
      );
      const bindings = { tenantId, id, currency, first, end };
      const [counted] = await sqlRows<{ events: number }>(nested, countSql(owner), bindings);
      await nested.raw(`select set_config('statement_timeout', ?, true)`, [limit?.before ?? '0']);
      return counted?.events ?? 0;
    });
  } catch (error) {
    if (tookTooLong(error)) return null;
    throw error;
  }
}
