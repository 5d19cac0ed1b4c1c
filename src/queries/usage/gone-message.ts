import type { Knex } from 'knex';
import { Decimal } from '../../kernel/numbers/money.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import type { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type { UsageEvent } from '../../models/usage/usage-event.js';
import type { RatingPlan, UsageEvent as RatedEvent } from '../../rating/index.js';
import { readMessage, type ReadMessage } from './usage-message.js';

interface GoneRow {
  readonly id: string;
  readonly removedOn: string | null;
  readonly accountRef: string | null;
}

/** Says of those events whose message the log has no more when it went, and names their accounts. */
export async function findGoneMessages(
  db: Knex,
  tenantId: string,
  events: readonly UsageEvent[],
): Promise<void> {
  const gone = new Map(events.flatMap((event) => (event.text === null ? [[event.id, event]] : [])));
  if (gone.size === 0) return;
  const rows = await sqlRows<GoneRow>(
    db,
    `select event.id, removed.removed_on::text as "removedOn", account.external_id as "accountRef"
     from usage_event as event
     left join account on account.tenant_id = event.tenant_id and account.id = event.account_id
     left join lateral (
       select removed_on from removed_message
       where removed_message.tenant_id = event.tenant_id
         and removed_message.partition = event.partition
         and removed_message.first_offset <= event."offset"
         and removed_message.end_offset > event."offset"
       order by removed_message.first_offset desc limit 1
     ) as removed on true
     where event.tenant_id = ? and event.id = any(?::uuid[])`,
    [tenantId, [...gone.keys()]],
  );
  for (const { id, removedOn, accountRef } of rows) {
    const event = gone.get(id);
    const note =
      removedOn === null
        ? 'The message of this event is not in the usage log any more.'
        : `The message of this event was removed on ${removedOn} by retention.`;
    if (event) event.gone = { note, accountRef };
  }
}

/** The message of a stored event; where it is gone, what the event itself has of it. */
export function messageOf(event: UsageEvent): ReadMessage {
  if (event.text !== null) return readMessage(event.text);
  const { externalTransactionId, serviceId, eventAt, gone } = event;
  return {
    content: null,
    read: { ok: false, code: 'INVALID_EVENT', message: gone?.note ?? '' },
    externalTransactionId,
    accountRef: gone?.accountRef ?? null,
    serviceId,
    eventAt: eventAt?.toISOString() ?? null,
  };
}

/**
 * An event as its charges have it, whose message is gone: what was priced, with its volume, and the
 * values by which the rows of the card were chosen. It is priced as the event was, unless a pricing
 * logic used something else of the message.
 *
 * A charge for 5 calls by a row for region EU gives the dimensions {calls: 5, region: EU}.
 */
export function eventOfCharges(
  plan: RatingPlan,
  charges: readonly RatedTransaction[],
): RatedEvent | null {
  const [first] = charges;
  if (!first) return null;
  const rows = new Map(plan.card.rows.map((row) => [row.id, row]));
  const dimensions = new Map<string, string>();
  const counted = new Map<string, string>();
  const aggregated = new Set(
    plan.attributes.flatMap(({ name, aggregation = 'SUM' }) =>
      aggregation === 'SUM' ? [] : [name],
    ),
  );
  for (const {
    dimensionName,
    volume,
    sharedVolume,
    rateCardRowId,
    counterBefore,
    countedValue,
  } of charges.flatMap((charge) => charge.dimensions)) {
    for (const { name, value } of rows.get(rateCardRowId)?.attributeValues ?? []) {
      if (!dimensions.has(name)) dimensions.set(name, value);
    }
    if (countedValue !== null) counted.set(dimensionName, countedValue);
    // Of a greatest or a last one, where the counter stood then.
    const before = aggregated.has(dimensionName) ? (counterBefore ?? 0) : 0;
    dimensions.set(dimensionName, new Decimal(sharedVolume ?? volume).plus(before).toFixed());
  }
  return {
    externalTransactionId: first.externalTranId,
    serviceId: first.serviceId,
    timestamp: `${first.transactionDate}T00:00:00.000Z`,
    date: first.transactionDate,
    accountRef: '',
    dimensions,
    quantity: null,
    serviceInstanceId: first.serviceInstanceId,
    priceUnitLabel: null,
    counted,
  };
}
