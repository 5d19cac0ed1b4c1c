import type { UsageLogReader, UsageSlice } from './usage-log.js';

export interface UsageMessage {
  readonly tenantId: string;
  /** Chooses the partition: the account reference, or what stands in for it. */
  readonly partitionKey: string;
  readonly key: string | null;
  readonly orgId: string | null;
  /** The event as JSON text, with every digit as it came. */
  readonly message: string;
  /** The span that publishes it (W3C `traceparent`). */
  readonly trace?: string | null;
}

/** Where the broker put a message; `offset` grows by one per partition. */
export interface Published {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A partition that holds events which nobody has rated yet, from `offset` up to `end`. */
export interface WaitingPartition {
  readonly tenantId: string;
  readonly partition: number;
  readonly offset: number;
  /** The offset after the last record. */
  readonly end: number;
  /** The cell of the tenant, where there are several. */
  readonly cell?: string;
}

/** What this process is to rate: all that waits, or its share where processes divide it. */
export interface UsageIntake {
  waiting(): Promise<WaitingPartition[]>;
  close(): Promise<void>;
}

/** The port to the log that usage events stream through. */
export interface UsageBroker extends UsageLogReader {
  /** Whether it keeps messages in the database, where events find theirs; else rating does. */
  readonly keepsMessages: boolean;
  /** Resolves when the message is durable. Throws a problem (502, 504) when it cannot be. */
  publish(message: UsageMessage): Promise<Published>;
  /**
   * In the order given. When it throws, some of them may be in the log all the same: sending all
   * again is safe.
   */
  publishAll(messages: readonly UsageMessage[]): Promise<Published[]>;
  /**
   * The records from `offset` up to `end`, in order; fewer when their messages are large, but the
   * slice is never empty-handed: it holds a record or leads on, unless the log ends at `offset`.
   */
  read(tenantId: string, partition: number, offset: number, end: number): Promise<UsageSlice>;
  /**
   * Where the log still has records at `offset` or after it: `offset` itself, unless what was there was
   * removed; the end of the log, when nothing is left.
   */
  firstKept(tenantId: string, partition: number, offset: number): Promise<number>;
  /** Calls back soon after something was published by any process; it may also miss one. */
  openIntake(onPublished: () => void): Promise<UsageIntake>;
  /** Throws when the broker does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
