import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import type pg from 'pg';
import { parseRecords, rateUsage } from '../../../src/commands/usage/rate-usage.js';
import { newId } from '../../../src/kernel/id.js';
import type { Scope } from '../../../src/kernel/scope.js';
import type { Message } from '../billing/usage.js';
import type { TestInstance, TestTenant } from '../servers/instance.js';

/** Somebody whose work is divided by turns, each of which waits until it may go on. */
export class Actor {
  #turns = 0;
  #go: (() => void) | undefined;
  isDone = false;
  result: Promise<unknown> = Promise.resolve();

  get isWaiting(): boolean {
    return this.#go !== undefined;
  }

  async turn(): Promise<void> {
    if (this.#turns === 0) await new Promise<void>((resolve) => (this.#go = resolve));
    this.#turns -= 1;
  }

  /** Lets it do its next turn, at once or when it gets there. */
  go(): void {
    this.#turns += 1;
    const go = this.#go;
    this.#go = undefined;
    go?.();
  }

  do(work: () => Promise<unknown>): void {
    this.result = work().finally(() => (this.isDone = true));
  }

  /** A scope in which each transaction begins with a turn, and commits with one if asked. */
  scope(scope: Scope, commitsByTurn: (transaction: number) => boolean): Scope {
    let count = 0;
    return {
      ...scope,
      db: {
        tenantId: scope.tenantId,
        get read() {
          return scope.db.read;
        },
        transaction: async (work) => {
          count += 1;
          const isHeld = commitsByTurn(count);
          await this.turn();
          return scope.db.transaction(async (trx) => {
            const result = await work(trx);
            if (isHeld) await this.turn();
            return result;
          });
        },
      },
    };
  }
}

/** Waits until nobody gets any further: each waits for a turn or a lock, or is done. */
export async function quiet(client: pg.Client, actors: readonly Actor[]): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const busy = actors.filter(({ isDone, isWaiting }) => !isDone && !isWaiting).length;
    if (busy === 0) return;
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::integer from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows[0]?.count === busy) return;
    if (Date.now() > deadline) expect.fail('Somebody is neither waiting nor done.');
    await wait(2);
  }
}

/** Rates what the log has from these offsets of its partitions on, in an instance without workers. */
export async function rateRecords(
  { platform }: TestInstance,
  scope: Scope,
  from: ReadonlyMap<number, number>,
): Promise<void> {
  for (const [partition, offset] of from) {
    const end = offset + 100;
    const { records, nextOffset } = await platform.broker.read(
      scope.tenantId,
      partition,
      offset,
      end,
    );
    await rateUsage(scope, {
      partition,
      from: offset,
      end: nextOffset,
      records: await parseRecords(records),
      areKept: true,
      workflowId: 'test',
      runId: newId(),
      onFault: (error) => expect.fail(String(error)),
    });
  }
}

/** Sends an event: its external id, and where it stands in the log. */
export async function publish(tenant: TestTenant, message: Message) {
  const { body } = await tenant.post('/v1/ingest/usage', { message }).expect(200);
  const { partition, offset } = body as { partition: number; offset: number };
  return { event: String(message.externalTransactionId), at: new Map([[partition, offset]]) };
}
