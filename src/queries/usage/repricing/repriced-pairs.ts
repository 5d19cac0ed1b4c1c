import type { Knex } from 'knex';
import { problem } from '../../../kernel/problem.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import { unpackCharges, type PairedCharge } from './packed-charge.js';

/** Whose charges, and of which repricing. */
type Whose = Readonly<Record<'tenantId' | 'id' | 'accountId', string>>;

interface Found {
  readonly pairs: readonly PairedCharge[];
  readonly total: number;
}

interface PackedRow {
  readonly first: number;
  readonly charges: string;
}

const whoseSql = 'tenant_id = :tenantId and repricing_id = :id and account_id = :accountId';

async function countPairs(db: Knex, whose: Whose): Promise<number> {
  const [found] = await sqlRows<{ total: number }>(
    db,
    `select coalesce(sum(count), 0)::integer as "total" from repricing_charge where ${whoseSql}`,
    { ...whose },
  );
  return found?.total ?? 0;
}

/** A page of charges in the order in which they were rated. */
export async function readRated(
  db: Knex,
  whose: Whose,
  { limit, offset }: PageRequest,
): Promise<Found> {
  const rows = await sqlRows<PackedRow>(
    db,
    `select first::integer as "first", charges from repricing_charge
     where ${whoseSql} and first < :end and first + count > :offset
     order by first`,
    { ...whose, offset, end: offset + limit },
  );
  const from = rows[0]?.first ?? 0;
  const all = rows.flatMap(({ charges }) => unpackCharges(charges));
  const pairs = all.slice(offset - from, offset - from + limit);
  return { pairs, total: await countPairs(db, whose) };
}

/** The charges of a row; in both of its forms they have the amounts at 2 and 3. */
const chargesOfSql = `case json_typeof(packed) when 'array' then packed else packed -> 'charges' end`;

const largestSql = `
  with largest as materialized (
    select kept.first, each.place::integer - 1 as place,
      abs(coalesce((charge ->> 3)::numeric, 0) - coalesce((charge ->> 2)::numeric, 0)) as size
    from (
      select first, charges::json as packed from repricing_charge where ${whoseSql}
    ) as kept
      cross join lateral json_array_elements(${chargesOfSql}) with ordinality as each (charge, place)
    order by size desc, first, place
    limit :limit offset :offset
  )
  select (packed -> 'origins')::text as "origins", (${chargesOfSql} -> place)::text as "charge"
  from (
    select largest.*, kept.charges::json as packed
    from largest join repricing_charge as kept on ${whoseSql} and kept.first = largest.first
  ) as found
  order by size desc, first, place`;

/** Charges that a request sorts: half a second of work. */
const sortedMax = 50_000;

/** A page of charges by the size of their difference, the largest first. 400: they are too many for that. */
export async function readLargest(
  db: Knex,
  whose: Whose,
  { limit, offset }: PageRequest,
): Promise<Found> {
  const total = await countPairs(db, whose);
  if (total > sortedMax) {
    throw problem.validation(
      `'sort' is for at most ${sortedMax} charges, and the account has ${total}: leave it out`,
      { field: 'sort' },
    );
  }
  const rows = await sqlRows<{ origins: string | null; charge: string }>(db, largestSql, {
    ...whose,
    limit,
    offset,
  });
  const pairs = rows.flatMap(({ origins, charge }) =>
    unpackCharges(
      origins === null ? `[${charge}]` : `{"origins":${origins},"charges":[${charge}]}`,
    ),
  );
  return { pairs, total };
}
