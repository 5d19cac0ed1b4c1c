import type { Knex } from 'knex';

export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
}
interface Connection {
  query(statement: unknown, ...others: unknown[]): unknown;
}
interface Source {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<unknown>;
}

/** A step of a plan, as `explain (analyze, format json)` shows it. */
export interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Heap Fetches'?: number;
  readonly Plans?: readonly Step[];
}

/** The selects that run on the connections of this handle while the work is done. */
export async function record(db: Knex, work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const source = db.client as Source;
  const acquire = source.acquireConnection.bind(source);
  const watched = new Map<Connection, Connection['query']>();
  source.acquireConnection = async () => {
    const connection = await acquire();
    if (!watched.has(connection)) {
      const query = connection.query.bind(connection);
      watched.set(connection, query);
      connection.query = (statement, ...others) => {
        const { text } = statement as Partial<Statement>;
        if (text?.startsWith('select') === true) statements.push(statement as Statement);
        return query(statement, ...others);
      };
    }
    return connection;
  };
  try {
    await work();
  } finally {
    Reflect.deleteProperty(source, 'acquireConnection');
    for (const [connection, query] of watched) connection.query = query;
  }
  return statements;
}

export async function explain(db: Knex, { text, values = [] }: Statement): Promise<Step[]> {
  const source = db.client as Source;
  const connection = await source.acquireConnection();
  try {
    const { rows } = (await connection.query({
      text: `explain (analyze, format json) ${text}`,
      values,
    })) as { rows: { 'QUERY PLAN': { Plan: Step }[] }[] };
    const steps: Step[] = [];
    const walk = (step: Step): void => {
      steps.push(step);
      step.Plans?.forEach(walk);
    };
    for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) walk(Plan);
    return steps;
  } finally {
    await source.releaseConnection(connection);
  }
}

/** More rows than any of these lists has to look at; far fewer than there are. */
const rowsMax = 1_000;
const large = new Set(['account', 'rated_transaction', 'usage_event', 'record']);

/** What is wrong with a step: it reads, or sorts, the whole instead of what is asked for. */
export function faultOf(step: Step): string | undefined {
  const type = step['Node Type'];
  const rows = step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0);
  if (type === 'Seq Scan' && large.has(step['Relation Name'] ?? '')) return 'a sequential scan';
  if (type.endsWith('Sort') && rows > rowsMax) return `a sort of ${rows} rows`;
  // Entries of an index are skipped by the thousand in a deep page; rows are not.
  const reads = type === 'Index Only Scan' ? (step['Heap Fetches'] ?? 0) : rows;
  if (/Scan$/.test(type) && type !== 'Bitmap Index Scan' && reads > rowsMax) {
    return `${type} reads ${reads} rows`;
  }
  return undefined;
}
