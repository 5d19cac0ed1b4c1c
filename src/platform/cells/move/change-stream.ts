import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { LogicalReplicationService, PgoutputPlugin, type Pgoutput } from 'pg-logical-replication';
import { MoveError } from './move-error.js';
import type { MovedTable } from './moved-tables.js';
import { LagError, changesName, markTable, readRecord } from './replication.js';

/** Keys of rows by table, each as the JSON of its values as text: see `MovedTable.key`. */
export type RowKeys = ReadonlyMap<string, ReadonlySet<string>>;

/** Keys that a worker holds at once: some hundred mebibytes. */
const keysMax = 500_000;
const tooMany = `More than ${keysMax} rows of the tenant changed while some were compared: move it when it has less to do.`;
const lookMs = 5;

export const countKeys = (keys: RowKeys): number =>
  [...keys.values()].reduce((sum, ofTable) => sum + ofTable.size, 0);

/** `16/B374D848`, or with more zeros, as a number. */
function walPosition(text: string | null): bigint {
  const [high = '0', low = '0'] = (text ?? '').split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}

const walText = (position: bigint): string =>
  `${(position >> 32n).toString(16)}/${(position & 0xffffffffn).toString(16)}`;

type Change = Pgoutput.MessageInsert | Pgoutput.MessageUpdate | Pgoutput.MessageDelete;

/** The keys that a change names: of the row that it leaves, and of the one that it replaces. */
function keysOf(change: Change, { name, key }: MovedTable): string[] {
  const before = 'key' in change ? (change.key ?? change.old) : null;
  const after = 'new' in change ? change.new : null;
  return [before, after]
    .filter((image) => image !== null)
    .map((image) => {
      // A value that is kept apart and has not changed is told with the row before alone.
      const values = key.map(({ name: column }) => (image[column] ?? before?.[column]) as unknown);
      if (values.every((value) => typeof value === 'string')) return JSON.stringify(values);
      throw new Error(`A change of ${name} does not tell the key of its row.`);
    });
}

/** What has been heard: the keys of rows that changed, and where in the WAL their transactions end. */
export interface Heard {
  readonly keys: RowKeys;
  readonly until: bigint;
}

/** What is heard, and where. */
interface Recorded {
  readonly sourceUrl: string;
  readonly recorder: pg.Client;
  readonly tenantId: string;
  readonly tables: readonly MovedTable[];
}

/** Keys are written as they are read by what compares. */
const sameText = '-c datestyle=ISO -c timezone=UTC -c bytea_output=hex';

/** How long a stream may take to end that was closed, or whose worker was killed. */
const unusedMs = 10_000;

async function untilUnused(recorder: pg.Client, name: string): Promise<void> {
  for (const deadline = performance.now() + unusedMs; ; await wait(lookMs)) {
    const { rows } = await recorder.query(
      'select from pg_replication_slots where slot_name = $1 and active_pid is not null',
      [name],
    );
    if (rows.length === 0) return;
    if (performance.now() > deadline) throw new LagError();
  }
}

/**
 * Hears which rows of a tenant change, by transaction in the order of their commits, from what was confirmed
 * last: PostgreSQL keeps the rest, also when the worker dies.
 */
export class ChangeStream {
  readonly #service: LogicalReplicationService;
  readonly #tables: ReadonlyMap<string, MovedTable>;
  #keys = new Map<string, Set<string>>();
  #count = 0;
  #until: bigint;
  #confirmed: bigint;
  /** The mark that the transaction has which is being heard, and that of the last one that ended. */
  #marking: string | undefined;
  #mark: string | undefined;
  #failure: Error | undefined;

  private constructor(
    url: string,
    { tables, name, confirmed }: { tables: readonly MovedTable[]; name: string; confirmed: bigint },
  ) {
    this.#tables = new Map(tables.map((table) => [table.name, table]));
    this.#until = confirmed;
    this.#confirmed = confirmed;
    // What was received says nothing of what was compared: nothing is acknowledged by itself.
    const acknowledge = { auto: false, timeoutSeconds: 0 };
    const address = new URL(url);
    address.searchParams.delete('application_name');
    const client = {
      connectionString: address.href,
      application_name: name,
      connectionTimeoutMillis: 10_000,
      options: sameText,
    };
    this.#service = new LogicalReplicationService(client, { acknowledge });
  }

  /** Hears what was not confirmed, and what comes; `isCompared`: only where all else has been compared. */
  static async open(
    { sourceUrl, recorder, tenantId, tables }: Recorded,
    isCompared: boolean,
  ): Promise<ChangeStream> {
    const name = changesName(tenantId);
    await untilUnused(recorder, name);
    const confirmed = walPosition(await readRecord(recorder, tenantId, isCompared));
    const stream = new ChangeStream(sourceUrl, { tables, name, confirmed });
    stream.#listen(name);
    return stream;
  }

  #listen(name: string): void {
    const service = this.#service;
    const fail = (error: Error): void => {
      this.#failure ??= error;
      this.#keys.clear();
    };
    service.on('error', fail);
    service.on('heartbeat', (_at: string, _time: number, isAsked: boolean) => {
      if (isAsked) void this.#acknowledge().catch(fail);
    });
    service.on('data', (_at: string, message: Pgoutput.Message) => {
      if (this.#failure !== undefined) return;
      try {
        this.#read(message);
      } catch (error) {
        fail(error as Error);
      }
    });
    const plugin = new PgoutputPlugin({ protoVersion: 1, publicationNames: [name] });
    service
      .subscribe(plugin, name, walText(this.#confirmed))
      .then(() => fail(new Error('The source has ended the stream of changes.')), fail);
  }

  #read(message: Pgoutput.Message): void {
    switch (message.tag) {
      case 'relation':
        // As PostgreSQL wrote it: a time is more exact than a Date.
        for (const column of message.columns) column.parser = (text: string) => text;
        return;
      case 'insert':
      case 'update':
      case 'delete':
        this.#note(message);
        return;
      case 'commit':
        this.#until = walPosition(message.commitEndLsn);
        this.#mark = this.#marking ?? this.#mark;
        this.#marking = undefined;
        return;
      case 'truncate':
        throw new Error('A table of the tenant was truncated while it is moved.');
      default:
    }
  }

  #note(change: Change): void {
    const { name } = change.relation;
    const table = this.#tables.get(name);
    if (table === undefined) throw new Error(`A change is of ${name}, which is not moved.`);
    if (name === markTable && 'new' in change) this.#marking = String(change.new['mark']);
    const keys = this.#keys.get(name) ?? new Set();
    this.#keys.set(name, keys);
    for (const key of keysOf(change, table)) {
      if (keys.has(key)) continue;
      keys.add(key);
      this.#count += 1;
    }
    if (this.#count > keysMax) throw new MoveError(tooMany);
  }

  /** One less than what is confirmed: the library adds one. */
  async #acknowledge(): Promise<void> {
    await this.#service.acknowledge(walText(this.#confirmed - 1n));
  }

  /** Waits until all has been heard that was committed before a mark; what that is, since it was taken last. */
  async upTo(mark: string, withinMs: number): Promise<RowKeys> {
    for (const deadline = performance.now() + withinMs; ; await wait(lookMs)) {
      if (this.#failure !== undefined) throw this.#failure;
      // As they are now: more are heard while they are compared.
      if (this.#mark === mark) {
        return new Map([...this.#keys].map(([name, keys]) => [name, new Set(keys)]));
      }
      if (performance.now() > deadline) throw new LagError();
    }
  }

  /** Takes what has been heard: from now on it hears what comes behind. */
  take(): Heard {
    const heard = { keys: this.#keys, until: this.#until };
    this.#keys = new Map();
    this.#count = 0;
    return heard;
  }

  /** What was taken need not be heard again. */
  async confirm({ until }: Heard): Promise<void> {
    this.#confirmed = until;
    await this.#acknowledge();
  }

  async close(): Promise<void> {
    await this.#service.destroy();
  }
}
