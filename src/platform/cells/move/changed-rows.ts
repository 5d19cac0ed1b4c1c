import pg from 'pg';
import { PgoutputPlugin, type Pgoutput } from 'pg-logical-replication';
import { MoveError } from './move-error.js';
import type { MovedTable } from './moved-tables.js';
import { changesSlotName, moveName } from './replication.js';

/** Keys of rows by table, each as the JSON of its values as text: see `MovedTable.key`. */
export type RowKeys = ReadonlyMap<string, ReadonlySet<string>>;

/** What has changed at the source, and where in its WAL that ends; null: nothing has. */
export interface RowChanges {
  readonly keys: RowKeys;
  readonly until: bigint | null;
}

/** Keys that a worker holds at once: some hundred mebibytes. */
const keysMax = 1_000_000;
const tooMany = `More than ${keysMax} rows of the tenant changed while some were compared: move it when it has less to do.`;
/** Messages of replication that are read at once. */
const messagesAtOnce = 5_000;

export const countKeys = (keys: RowKeys): number =>
  [...keys.values()].reduce((sum, ofTable) => sum + ofTable.size, 0);

/** `16/B374D848`, or with more zeros, as a number. */
function walPosition(text: string | null): bigint {
  const [high = '0', low = '0'] = (text ?? '').split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

const walText = (position: bigint): string =>
  `${(position >> 32n).toString(16)}/${(position & 0xffffffffn).toString(16)}`;

/** The keys that a change names: of the row that it leaves, and of the one that it replaces. */
function keysOf(
  change: Pgoutput.MessageInsert | Pgoutput.MessageUpdate | Pgoutput.MessageDelete,
  { name, key }: MovedTable,
): string[] {
  const images = [
    'new' in change ? change.new : null,
    'key' in change ? (change.key ?? change.old) : null,
  ];
  return images
    .filter((image) => image !== null)
    .map((image) => {
      const values = key.map(({ name: column }) => image[column] as unknown);
      if (values.every((value) => typeof value === 'string')) return JSON.stringify(values);
      throw new Error(`A change of ${name} does not tell the key of its row.`);
    });
}

/** Reads the messages of PostgreSQL's replication, one after the other. */
class ChangeReader {
  readonly keys = new Map<string, Set<string>>();
  until: bigint | null = null;
  readonly #plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: [] });
  readonly #tables: ReadonlyMap<string, MovedTable>;
  readonly #after: bigint;
  #count = 0;
  /** Whether the transaction that is read was read before. */
  #isKnown = false;

  constructor(tables: readonly MovedTable[], after: bigint) {
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.#after = after;
  }

  read(data: Buffer): void {
    const message = this.#plugin.parse(data);
    switch (message.tag) {
      case 'begin':
        this.#isKnown = walPosition(message.commitLsn) < this.#after;
        return;
      case 'commit':
        this.until = walPosition(message.commitEndLsn);
        return;
      case 'relation':
        // As PostgreSQL wrote it: a time is more exact than a Date.
        for (const column of message.columns) column.parser = (text: string) => text;
        return;
      case 'insert':
      case 'update':
      case 'delete':
        if (!this.#isKnown) this.#note(message);
        return;
      case 'truncate':
        throw new Error('A table of the tenant was truncated while it is moved.');
      default:
    }
  }

  #note(change: Pgoutput.MessageInsert | Pgoutput.MessageUpdate | Pgoutput.MessageDelete): void {
    const { name } = change.relation;
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`A change is of ${name}, which is not moved.`);
    const keys = this.keys.get(name) ?? new Set();
    this.keys.set(name, keys);
    for (const key of keysOf(change, table)) keys.add(key);
    this.#count += 1;
    if (this.#count > keysMax) throw new MoveError(tooMany);
  }
}

/**
 * The rows that changed since what was last passed, but for transactions that were committed before
 * `after`. They stay there to be read again.
 */
export async function readChanges(
  source: pg.Client,
  { tenantId, tables }: { readonly tenantId: string; readonly tables: readonly MovedTable[] },
  after = 0n,
): Promise<RowChanges> {
  const reader = new ChangeReader(tables, after);
  await source.query('begin');
  try {
    await source.query(
      `declare changes no scroll cursor for
       select data from pg_logical_slot_peek_binary_changes(${pg.escapeLiteral(changesSlotName(tenantId))},
         null, null, 'proto_version', '1', 'publication_names', ${pg.escapeLiteral(moveName(tenantId))})`,
    );
    for (let read = 1; read > 0;) {
      const { rows } = await source.query<{ data: Buffer }>(`fetch ${messagesAtOnce} from changes`);
      for (const { data } of rows) reader.read(data);
      read = rows.length;
    }
    return reader;
  } finally {
    await source.query('rollback');
  }
}

/** Passes over what has been compared. */
export async function passChanges(
  source: pg.Client,
  tenantId: string,
  until: bigint,
): Promise<void> {
  await source.query('select pg_replication_slot_advance($1, $2::pg_lsn)', [
    changesSlotName(tenantId),
    walText(until),
  ]);
}
