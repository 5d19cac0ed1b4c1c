import type { BaseOptions, FetchIsolationLevels, ProduceAcks } from '@platformatic/kafka';
import { defined } from '../../kernel/defined.js';

/** Where Kafka is and what topics are made with. */
export interface KafkaSettings {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[];
  /** Prefix of every topic and group, if several instances share a Kafka; '' for none. */
  readonly prefix: string;
  readonly tls: boolean;
  readonly sasl:
    | { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
    | undefined;
  /** Copies of a topic; undefined: as many as the brokers are configured to make. */
  readonly replication: number | undefined;
  /** How long Kafka keeps events; undefined: for ever. */
  readonly retentionHours: number | undefined;
}

export type SaslMechanism = 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';

/** Numbers of Kafka's protocol; the library that names them is loaded only where there is a Kafka. */
export const readCommitted = 1 satisfies (typeof FetchIsolationLevels)['READ_COMMITTED'];
export const acksOfAll = -1 satisfies (typeof ProduceAcks)['ALL'];

const retryDelayMs = 200;

/** What every client of the library is opened with; a call ends within `timeoutMs` for each try. */
export function clientOptions(
  settings: KafkaSettings,
  { timeoutMs, retries }: { readonly timeoutMs: number; readonly retries: number },
): BaseOptions {
  return {
    clientId: 'durabill',
    bootstrapBrokers: [...settings.brokers],
    timeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectTimeout: Math.min(timeoutMs, 5_000),
    retries,
    retryDelay: retryDelayMs,
    ...(settings.tls ? { tls: {}, tlsServerName: true } : {}),
    ...defined({ sasl: settings.sasl }),
  };
}

/** A name in Kafka; those of an instance begin alike. */
export const prefixed = (prefix: string, name: string): string =>
  prefix === '' ? name : `${prefix}.${name}`;

/** Whether an error of the library has this code of Kafka's protocol somewhere in it. */
export function hasApiId(error: unknown, apiId: string): boolean {
  const { findBy } = error as { findBy?: (property: string, value: string) => unknown };
  if (typeof findBy !== 'function') return false;
  return Boolean(findBy.call(error, 'apiId', apiId));
}

interface Closable {
  close(): Promise<void>;
}

/**
 * Replaces a client of the library after a failure: a connection whose request timed out, and an
 * idempotent producer that does not know whether its last batch arrived, cannot be used any more.
 * The old client is closed after its last use.
 */
export class Renewed<Client extends Closable> {
  readonly #create: () => Client;
  readonly #timeoutMs: number;
  readonly #users = new Map<Client, number>();
  #client: Client | undefined;
  #isClosed = false;

  constructor(create: () => Client, timeoutMs: number) {
    this.#create = create;
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects when the work takes longer than the time limit. */
  async use<T>(work: (client: Client) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error('The broker is closed.');
    const client = (this.#client ??= this.#create());
    this.#users.set(client, (this.#users.get(client) ?? 0) + 1);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const text = `Kafka did not answer within ${this.#timeoutMs} ms.`;
      timer = setTimeout(() => reject(new Error(text)), this.#timeoutMs);
    });
    try {
      return await Promise.race([work(client), late]);
    } catch (error) {
      this.renew(client);
      throw error;
    } finally {
      clearTimeout(timer);
      this.#users.set(client, (this.#users.get(client) ?? 1) - 1);
      this.#closeUnused(client);
    }
  }

  /** The next use gets another client. */
  renew(client: Client): void {
    if (this.#client === client) this.#client = undefined;
  }

  close(): void {
    this.#isClosed = true;
    const client = this.#client;
    this.#client = undefined;
    if (client) this.#closeUnused(client);
  }

  #closeUnused(client: Client): void {
    if (client === this.#client || (this.#users.get(client) ?? 0) > 0) return;
    this.#users.delete(client);
    // Of a client that failed, closing may fail as well; its connections are gone either way.
    client.close().catch(() => undefined);
  }
}
