import type { Knex } from 'knex';

type Answer = readonly object[] | { readonly rows?: readonly object[] } | undefined;

/** Keeps how many characters the longest answer of a connection has, by a model or as SQL. */
export function weigh(db: Knex, most: { length: number } = { length: 0 }): { length: number } {
  db.on('query-response', (answer: Answer) => {
    const rows = answer && 'rows' in answer ? answer.rows : answer;
    most.length = Math.max(most.length, JSON.stringify(rows ?? []).length);
  });
  return most;
}
