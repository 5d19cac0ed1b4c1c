import type { Knex } from 'knex';
import type { Listen } from './database/listen.js';
import type { Logger } from './log.js';

/** What of a tenant has changed. */
export interface Changed {
  /** Whether usage was rated. */
  readonly usage: boolean;
  /** Ids of executions that began, went on or ended; null: more than are named. */
  readonly executions: string[] | null;
}

type Listener = (changed: Changed) => void;

const channel = 'tenant_change';
/** Between two statements that notify, so that a busy process sends few. */
const noticeEveryMs = 100;
/** Between two calls of a listener; it hears of the first change at once. */
const hearEveryMs = 250;
/** Ids of a tenant that are named at once: a notice of PostgreSQL has at most 8,000 bytes. */
const idsMax = 50;

const anything: Changed = { usage: true, executions: null };

function together(one: Changed | undefined, other: Changed): Changed {
  if (one === undefined) return other;
  const ids = new Set([...(one.executions ?? []), ...(other.executions ?? [])]);
  const isMany = one.executions === null || other.executions === null || ids.size > idsMax;
  return { usage: one.usage || other.usage, executions: isMany ? null : [...ids] };
}

/** The listeners of a tenant, and what they hear of once they may be called again. */
interface Hearing {
  readonly listeners: Set<Listener>;
  waiting: Changed | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Notifies all processes of what has changed, and calls whoever listens in this one. A process listens on one
 * connection, from its first listener on. Nothing waits for a notice, and it may be lost with the process
 * that would have sent it: whoever listens has to look by itself now and then, too.
 */
export class ChangeNotices {
  readonly #db: Knex;
  readonly #listen: Listen;
  readonly #log: Logger;
  readonly #noted = new Map<string, Changed>();
  #sending: NodeJS.Timeout | undefined;
  readonly #hearings = new Map<string, Hearing>();
  #listening: Promise<() => Promise<void>> | undefined;

  constructor(db: Knex, listen: Listen, log: Logger) {
    this.#db = db;
    this.#listen = listen;
    this.#log = log;
  }

  /** To be called when a change is committed. */
  notify(tenantId: string, changed: Changed): void {
    this.#noted.set(tenantId, together(this.#noted.get(tenantId), changed));
    this.#sending ??= setTimeout(() => void this.#sendNotices(), noticeEveryMs).unref();
  }

  /** Calls back with what changes of a tenant, until the returned function is called. */
  async hear(tenantId: string, listener: Listener): Promise<() => void> {
    this.#listening ??= this.#listen(channel, (payload) => this.#hear(payload));
    try {
      await this.#listening;
    } catch (error) {
      // The next listener tries again.
      this.#listening = undefined;
      throw error;
    }
    const hearing = this.#hearings.get(tenantId) ?? {
      listeners: new Set(),
      waiting: undefined,
      timer: undefined,
    };
    this.#hearings.set(tenantId, hearing);
    hearing.listeners.add(listener);
    return () => {
      hearing.listeners.delete(listener);
      if (hearing.listeners.size > 0 || this.#hearings.get(tenantId) !== hearing) return;
      clearTimeout(hearing.timer);
      this.#hearings.delete(tenantId);
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#sending);
    const stop = await this.#listening?.catch(() => undefined);
    await stop?.();
  }

  async #sendNotices(): Promise<void> {
    const notices = JSON.stringify([...this.#noted].map((notice) => JSON.stringify(notice)));
    this.#noted.clear();
    const sql = `select pg_notify('${channel}', notice) from jsonb_array_elements_text(?::jsonb) notice`;
    await this.#db
      .raw(sql, [notices])
      .catch((error: unknown) =>
        this.#log.debug({ err: error }, 'cannot notify of what has changed'),
      );
    this.#sending =
      this.#noted.size === 0
        ? undefined
        : setTimeout(() => void this.#sendNotices(), noticeEveryMs).unref();
  }

  #hear(payload: string): void {
    if (payload === '') {
      // Notices may have been missed without a connection.
      for (const tenantId of this.#hearings.keys()) this.#pass(tenantId, anything);
      return;
    }
    this.#pass(...(JSON.parse(payload) as [string, Changed]));
  }

  #pass(tenantId: string, changed: Changed): void {
    const hearing = this.#hearings.get(tenantId);
    if (!hearing) return;
    hearing.waiting = together(hearing.waiting, changed);
    if (hearing.timer === undefined) this.#call(hearing);
  }

  /** Calls the listeners, and after a while again where there is something by then. */
  #call(hearing: Hearing): void {
    const { waiting } = hearing;
    hearing.waiting = undefined;
    hearing.timer = undefined;
    if (waiting === undefined) return;
    hearing.timer = setTimeout(() => this.#call(hearing), hearEveryMs).unref();
    for (const listener of hearing.listeners) listener(waiting);
  }
}
