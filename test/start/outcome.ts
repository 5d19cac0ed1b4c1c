/** What became of usage events whose ids are `<prefix>-<number>`. */
export interface Outcome {
  /** Events that have been rated, each counted once. */
  readonly rated: number;
  /** Events that were rated more than once. */
  readonly doubled: number;
  /** Events that were confirmed and are not rated. */
  readonly lost: number;
  /** The sum of all counters, and of the volumes that were rated: both move in one transaction. */
  readonly counters: string;
  readonly volumes: string;
}

type Query = <Row extends object>(sql: string) => Promise<Row[]>;

const ratedOf = (prefix: string): string => `
  select substr(external_tran_id, ${prefix.length + 2})::int as number, count(*) as times
  from rated_transaction where external_tran_id like '${prefix}-%' group by 1`;

/**
 * Compares what was confirmed to the senders with what is in the database. Numbers that were rated are
 * read as runs from `first` to `last`: a million of them without a hole is one row.
 */
export async function outcomeOf(
  query: Query,
  prefix: string,
  confirmed: ReadonlySet<number>,
): Promise<Outcome> {
  const runs = await query<{ first: number; last: number }>(
    `select min(number) as first, max(number) as last from (
       select number, number - row_number() over (order by number) as run
       from (${ratedOf(prefix)}) as rated) as numbered
     group by run order by first`,
  );
  const [sums] = await query<{ doubled: string; counters: string; volumes: string }>(
    `select (select count(*) from (${ratedOf(prefix)}) as rated where times > 1) as doubled,
       (select coalesce(sum(value), 0) from usage_counter) as counters,
       (select coalesce(sum(quantity), 0) from rated_transaction
        where rate_card_row_id is not null) as volumes`,
  );
  const rated = runs.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  let found = 0;
  for (const { first, last } of runs) {
    for (let number = first; number <= last; number += 1) if (confirmed.has(number)) found += 1;
  }
  const { doubled = '0', counters = '0', volumes = '0' } = sums ?? {};
  return { rated, counters, volumes, doubled: Number(doubled), lost: confirmed.size - found };
}

/** The figures of a test in one line, as people read them. */
export function tellFigures(figures: Readonly<Record<string, number | string>>): void {
  const parts = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  process.stderr.write(`      ${parts.join(', ')}\n`);
}
