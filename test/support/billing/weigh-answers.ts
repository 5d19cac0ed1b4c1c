import type { Knex } from 'knex';

/** Of a statement that changes rows, their number. */
type Answer = readonly object[] | { readonly rows?: readonly object[] } | number | undefined;

/** Keeps how many characters the longest answer of a connection has, by a model or as SQL. */
export function weigh(db: Knex, most: { length: number } = { length: 0 }): { length: number } {
  db.on('query-response', (answer: Answer) => {
    if (typeof answer === 'number') return;
    const rows = answer && 'rows' in answer ? answer.rows : answer;
    most.length = Math.max(most.length, JSON.stringify(rows ?? []).length);
  });
  return most;
}
