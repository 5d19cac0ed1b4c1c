import type { Knex } from 'knex';
import { boundsOf } from '../../../../kernel/id.js';
import { decimalText, type Decimal } from '../../../../kernel/numbers/money.js';
import {
  arrayLiteral,
  jsonSeparatorSql,
  splitJson,
} from '../../../../kernel/text/postgres-array.js';
import { chargeId } from '../../../../messages/usage-log.js';
import { sqlRows } from '../../../../models/db/sql-rows.js';
import { pageBytesMax, readMessagesAt } from '../../../../models/usage/event-message.js';
import { StoredRatingPlan } from '../../../../models/usage/plans/rating-plan.js';
import { counterIdOf } from '../../../../models/usage/usage-counter.js';
import type { Prepared, Rated } from '../../../../rating/index.js';
import type { PlacedEvent } from '../meter-members.js';

/** An event that has one plain charge, as it is most often. */
export interface QuickEvent {
  /** Its message. */
  readonly text: string;
  /** What its charge consists of, as `chargeText` has it. */
  readonly charge: string;
}

/** What prices a message now, at once unless that has to be compiled; null: it is not simply rated anew. */
export type PrepareText = (text: string) => Prepared | null | Promise<Prepared | null>;

/** The first events of a page, as many as may be held; null in place of one of which more has to be read. */
export interface QuickPage {
  readonly events: readonly (QuickEvent | null)[];
  readonly prepare: PrepareText;
}

/** An event as far as its place and message go, whose message stands in the log. */
const isQuick = ({ partition, offset, isAsSent }: PlacedEvent): boolean =>
  partition !== undefined && offset !== undefined && isAsSent === true;

/**
 * What a plain charge consists of, of events in their order, joined: one text is cheaper to send and to
 * compare than rows with their columns. Empty is that of those with other charges, several priced rows, or
 * counters that a correction has moved: of them it would not say all. Each is found by its id, whatever
 * PostgreSQL believes of how many rows a tenant has; the least and the greatest id say of which months, so
 * that no other part of the table is planned for.
 */
const chargesSql = `
  select string_agg(coalesce((
    select concat(
      t.plan_id, '|', t.transaction_date, '|', t.account_id, '|', t.master_account_id, '|',
      t.contract_id, '|', t.usage_type, '|', t.rate_card_row_id, '|', t.amount, '|', t.quantity, '|',
      t.rate, '|', t.row_volume, '|', t.row_amount, '|', t.counter_id, '|', t.counter_before, '|',
      '+' || t.service_instance_id
    )
    from rated_transaction as t
    where t.tenant_id = :tenantId and t.id = asked.first and t.id >= :least and t.id <= :greatest
      and t.rate_card_row_id is not null and t.share_of is null and t.reverses is null
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
      )
  ), ''), ${jsonSeparatorSql} order by asked.place) as charges
  from unnest(:first::uuid[], :second::uuid[]) with ordinality as asked (first, second, place)`;

/** Of events in their order; null: it says nothing, because a text in it holds what separates them. */
async function readCharges(
  db: Knex,
  tenantId: string,
  events: readonly PlacedEvent[],
): Promise<readonly string[] | null> {
  const { least, greatest } = boundsOf(events.map(({ id }) => id));
  const [row] = await sqlRows<{ charges: string | null }>(db, chargesSql, {
    tenantId,
    first: arrayLiteral(events.map(({ id }) => chargeId(id, 1))),
    second: arrayLiteral(events.map(({ id }) => chargeId(id, 2))),
    least: chargeId(least, 1),
    greatest: chargeId(greatest, 2),
  });
  const charges = splitJson(row?.charges ?? '');
  return charges.length === events.length ? charges : null;
}

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
 * of them. Texts are kept, and what is made of one of them only while it is rated: a thousand prepared
 * events outlived every collection of young objects, which cost a third of the time.
 */
export async function readQuickly(
  db: Knex,
  tenantId: string,
  events: readonly PlacedEvent[],
  openPrepare: () => Promise<PrepareText>,
): Promise<QuickPage> {
  const places = events.map(({ partition = -1, offset = -1 }) => ({ partition, offset }));
  const [charges, texts, prepare] = await Promise.all([
    readCharges(db, tenantId, events),
    readMessagesAt(db, tenantId, places, pageBytesMax),
    openPrepare(),
  ]);
  const read = events.slice(0, texts.length).map((event, index): QuickEvent | null => {
    const [text, charge] = [texts[index] ?? null, charges?.[index] ?? ''];
    return isQuick(event) && text !== null && charge !== '' ? { text, charge } : null;
  });
  return { events: read, prepare };
}
