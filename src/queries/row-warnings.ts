import type { Knex } from 'knex';
import { arrayLiteral } from '../kernel/postgres-array.js';

/** Services or lines whose cards were written. */
export interface Written {
  readonly serviceIds?: readonly string[];
  readonly lineIds?: readonly string[];
}

/** A row of a current card that has no effect, as a whole or in a part. */
export interface IdleRow {
  readonly lineId: string | null;
  readonly currency: string;
  readonly position: number;
  readonly label: string;
  readonly name: string;
  /** The row that always comes first; null where the row's reset frequency has no effect. */
  readonly otherPosition: number | null;
  readonly otherLabel: string | null;
}

/**
 * Rows for an attribute under conditions that an earlier row of the card has as well, of which the
 * earlier always wins (0-decisions.md section 2, rule 8), and rows with a reset frequency for an
 * attribute that has no meter: of the line's attributes, then of its service's.
 */
const idleSql = `
  with card as (
    select card.id, card.currency, card.contract_service_id as line_id,
      coalesce(card.service_id, line.service_id) as service_id
    from rate_card as card left join contract_service as line
      on line.tenant_id = card.tenant_id and line.id = card.contract_service_id
    where card.tenant_id = :tenantId and card.is_current and card.deleted_at is null
      and (card.service_id = any(:serviceIds::uuid[])
        or card.contract_service_id = any(:lineIds::uuid[]))
  ), priced as (
    select card.id as card_id, card.line_id, card.service_id, card.currency, row.position,
      row.label, row.attribute_name as name, row.rates ->> 'resetFrequency' as frequency,
      (select coalesce(jsonb_agg(one order by one ->> 'attributeName'), '[]')
        from jsonb_array_elements(row.attribute_values) as one) as conditions
    from card join rate_card_row as row
      on row.tenant_id = :tenantId and row.rate_card_id = card.id and row.deleted_at is null
  ), ranked as (
    select priced.*, first_value(position) over same as other_position,
      first_value(label) over same as other_label
    from priced
    window same as (partition by card_id, name, conditions order by position)
  ), idle as (
    select line_id, currency, position, label, name, other_position, other_label from ranked
    where other_position < position
    union all
    select line_id, currency, position, label, name, null, null from priced
    where frequency is not null and not coalesce((
      select attribute.is_meter_dimension from attribute
      where attribute.tenant_id = :tenantId and attribute.deleted_at is null
        and attribute.name = priced.name
        and (attribute.service_id = priced.service_id
          or attribute.contract_service_id = priced.line_id)
      order by attribute.contract_service_id nulls last limit 1
    ), false)
  )
  select line_id as "lineId", currency, position, label, name,
    other_position as "otherPosition", other_label as "otherLabel"
  from idle order by line_id, currency, position, other_position nulls last limit 100`;

/** The rows of the current cards of these owners that do nothing, or not all that they say. */
export async function findIdleRows(
  db: Knex,
  tenantId: string,
  { serviceIds = [], lineIds = [] }: Written,
): Promise<readonly IdleRow[]> {
  const { rows } = await db.raw<{ rows: IdleRow[] }>(idleSql, {
    tenantId,
    serviceIds: arrayLiteral(serviceIds),
    lineIds: arrayLiteral(lineIds),
  });
  return rows;
}

/** What the owner of the card should know of it. */
export function idleRowWarning({
  position,
  label,
  name,
  otherPosition,
  otherLabel,
}: IdleRow): string {
  const row = `Row ${position + 1} ('${label}')`;
  if (otherPosition === null) {
    return (
      `${row} has a resetFrequency without effect: '${name}' has no meter. Set its isMeterDimension, ` +
      'or leave resetFrequency out: its tiers begin anew with each event.'
    );
  }
  return (
    `${row} never prices anything: row ${otherPosition + 1} ('${otherLabel ?? ''}') is for '${name}' ` +
    'under the same conditions and comes first. Give one of them other conditions, or leave one out.'
  );
}
