import type { Knex } from 'knex';
import type { Decimal } from '../../../kernel/numbers/money.js';
import { arrayLiteral } from '../../../kernel/text/postgres-array.js';
import { BulkTable } from '../../db/bulk-table.js';
import { sqlRows } from '../../db/sql-rows.js';

/** Where a counter stands before a charge that stays as it is: a correction has moved it. */
export interface ChargePlace {
  readonly chargeId: string;
  readonly counterId: string;
  readonly counterBefore: Decimal;
}

const table = new BulkTable<ChargePlace & { readonly correctionId: string }>('usage_charge_place', {
  chargeId: 'uuid',
  counterId: 'uuid',
  correctionId: 'uuid',
  counterBefore: 'numeric',
});

export function writePlaces(
  trx: Knex.Transaction,
  tenantId: string,
  correctionId: string,
  places: readonly ChargePlace[],
): Promise<void> {
  return table.insert(
    trx,
    tenantId,
    places.map((place) => ({ ...place, correctionId })),
  );
}

/** A priced row as far as its counter goes. */
interface PlacedRow {
  readonly counterId: string | null;
  readonly counterBefore: string | null;
}

/** A charge as far as its counters go. */
interface Placed<Row extends PlacedRow> {
  readonly id: string;
  readonly reverses: string | null;
  dimensions: readonly Row[];
}

interface PlaceRow {
  readonly chargeId: string;
  readonly counterId: string;
  readonly counterBefore: string;
}

/**
 * Puts the charges where corrections have moved their counters, as that was known at an instant where
 * one is given (docs/decisions/0355). A correction that is not committed yet has moved nothing.
 */
export async function movePlaces<Row extends PlacedRow>(
  db: Knex,
  tenantId: string,
  charges: readonly Placed<Row>[],
  knownOn: Date | null,
): Promise<void> {
  const metered = charges.filter(
    ({ reverses, dimensions }) =>
      reverses === null && dimensions.some(({ counterId }) => counterId !== null),
  );
  if (metered.length === 0) return;
  const rows = await sqlRows<PlaceRow>(
    db,
    `select place.charge_id as "chargeId", place.counter_id as "counterId",
       place.counter_before as "counterBefore"
     from usage_charge_place as place join usage_correction as known
       on known.tenant_id = place.tenant_id and known.id = place.correction_id
     where place.tenant_id = :tenantId and place.charge_id = any((select :ids::uuid[])::uuid[])
       and known.created_at <= coalesce(:knownOn::timestamptz, 'infinity')
     order by known.created_at, known.id`,
    {
      tenantId,
      ids: arrayLiteral(metered.map(({ id }) => id)),
      knownOn: knownOn?.toISOString() ?? null,
    },
  );
  if (rows.length === 0) return;
  // The latest is the last.
  const places = new Map(rows.map((row) => [`${row.chargeId}/${row.counterId}`, row]));
  for (const charge of metered) {
    charge.dimensions = charge.dimensions.map((row) => {
      const place = places.get(`${charge.id}/${row.counterId ?? ''}`);
      return place ? { ...row, counterBefore: place.counterBefore } : row;
    });
  }
}
