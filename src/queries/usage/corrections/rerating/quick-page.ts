import type { Knex } from 'knex';
import { decimalText, type Decimal } from '../../../../kernel/numbers/money.js';
import { arrayLiteral } from '../../../../kernel/text/postgres-array.js';
import { chargeId } from '../../../../messages/usage-log.js';
import { sqlRows } from '../../../../models/db/sql-rows.js';
import { readMessagesAt } from '../../../../models/usage/event-message.js';
import { StoredRatingPlan } from '../../../../models/usage/rating-plan.js';
import { counterIdOf } from '../../../../models/usage/usage-counter.js';
import type { Prepared, Rated } from '../../../../rating/index.js';
import type { PlacedEvent } from '../meter-members.js';

/** An event that has one plain charge, as it is most often. */
export interface QuickEvent {
  /** What prices it now. */
  readonly prepared: Prepared;
  /** What its charge consists of, as `chargeText` has it. */
  readonly charge: string;
}

/** What prices messages now; null: they are not simply rated anew. */
export type PreparedOf = (texts: readonly (string | null)[]) => Promise<(Prepared | null)[]>;

/** An event as far as its place and message go, whose message stands in the log. */
const isQuick = ({ partition, offset, isAsSent }: PlacedEvent): boolean =>
  partition !== undefined && offset !== undefined && isAsSent === true;

/**
 * What a plain charge consists of, of events in the order of their ids: as one text, which is cheaper
 * to send and to compare than its columns. Left out are those with other charges, several priced rows,
 * or counters that a correction has moved: of them it would not say all. With `offset 0` each is found
 * by its id, whatever PostgreSQL believes of how many rows a tenant has; the least and the greatest id
 * say of which months, so that no other part of the table is planned for.
 */
const chargesSql = `
  select asked.place::integer, concat(
    t.plan_id, '|', t.transaction_date, '|', t.account_id, '|', t.master_account_id, '|',
    t.contract_id, '|', t.usage_type, '|', t.rate_card_row_id, '|', t.amount, '|', t.quantity, '|',
    t.rate, '|', t.row_volume, '|', t.row_amount, '|', t.counter_id, '|', t.counter_before, '|',
    '+' || t.service_instance_id
  ) as charge
  from unnest(:first::uuid[], :second::uuid[]) with ordinality as asked (first, second, place)
  cross join lateral (
    select * from rated_transaction
    where tenant_id = :tenantId and id = asked.first and id >= :least and id <= :greatest offset 0
  ) as t
  where t.rate_card_row_id is not null and t.share_of is null and t.reverses is null
    and not exists (
      select from rated_transaction as more
      where more.tenant_id = :tenantId and more.id = asked.second
        and more.id >= :least and more.id <= :greatest offset 0
    ) and (
      (select not exists (select from usage_charge_place where tenant_id = :tenantId))
      or not exists (
        select from usage_charge_place as moved
        where moved.tenant_id = :tenantId and moved.charge_id = t.id offset 0
      )
    )`;

const ofMovedText = (value: Decimal, of: Decimal): string =>
  value === of || value.equals(of) ? '' : decimalText(value);

/** What a charge that was computed consists of, as the statement above has it; null: it is no plain one. */
export function chargeText({ event, owner, plan }: Prepared, rated: Rated): string | null {
  const [charge] = rated.transactions;
  const [row] = charge?.dimensions ?? [];
  if (!charge || !row || rated.transactions.length > 1 || charge.dimensions.length > 1) return null;
  const { counter, volume, calcAmount } = row;
  if (charge.share !== undefined || row.whole !== undefined || counter?.value) return null;
  const { amount, quantity } = charge;
  const instance = event.serviceInstanceId ?? owner.line?.serviceInstanceId ?? null;
  return (
    `${StoredRatingPlan.idOf(plan)}|${event.date}|${charge.billedAccountId}|${owner.accountId}|` +
    `${owner.line?.contractId ?? ''}|${charge.usageType}|${row.rowId}|${decimalText(amount)}|` +
    `${decimalText(quantity)}|${decimalText(row.rate)}|${ofMovedText(volume, quantity)}|` +
    `${ofMovedText(calcAmount, amount)}|${counter ? counterIdOf(counter.keyText) : ''}|` +
    `${counter ? decimalText(counter.before) : ''}|${instance === null ? '' : `+${instance}`}`
  );
}

/**
 * Reads a page of events that are to be rated again as far as it takes to find out that nothing becomes
 * of them; null in place of an event of which more has to be read.
 */
export async function readQuickly(
  db: Knex,
  tenantId: string,
  events: readonly PlacedEvent[],
  preparedOf: PreparedOf,
): Promise<readonly (QuickEvent | null)[]> {
  const ids = events.map(({ id }) => id).sort();
  const charges = sqlRows<{ place: number; charge: string }>(db, chargesSql, {
    tenantId,
    first: arrayLiteral(events.map(({ id }) => chargeId(id, 1))),
    second: arrayLiteral(events.map(({ id }) => chargeId(id, 2))),
    least: chargeId(ids[0] ?? '', 1),
    greatest: chargeId(ids.at(-1) ?? '', 2),
  });
  const places = events.map(({ partition = -1, offset = -1 }) => ({ partition, offset }));
  const messages = readMessagesAt(db, tenantId, places);
  const [texts] = await Promise.all([messages, charges]);
  const prepared = await preparedOf(
    texts.map((text, index) => {
      const event = events[index];
      return event && isQuick(event) ? text : null;
    }),
  );
  const read = events.map((): QuickEvent | null => null);
  for (const { place, charge } of await charges) {
    const own = prepared[place - 1];
    if (own) read[place - 1] = { prepared: own, charge };
  }
  return read;
}
