import { setTimeout as wait } from 'node:timers/promises';
import { assert } from 'chai';
import type { Knex } from 'knex';
import { inPortions, Portions } from '../../src/kernel/portions.js';
import { BulkTable, writeTogether } from '../../src/models/db/bulk-table.js';

/** Keeps the process to itself, as a computation does. */
function compute(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe('portions', () => {
  it('of many computations share one turn of the event loop with everybody else', async () => {
    const computeAll = async (): Promise<void> => {
      const portions = new Portions();
      for (let piece = 0; piece < 5; piece += 1) {
        compute(6);
        if (portions.isOver) await portions.rest();
      }
    };
    const turns: number[] = [];
    let isDone = false;
    const look = (): void => {
      turns.push(performance.now());
      if (!isDone) setImmediate(look);
    };
    look();
    await Promise.all([computeAll(), computeAll(), computeAll(), computeAll()]);
    isDone = true;
    // 20 pieces, of which the four first are done before anyone waits: at least 16 turns in between.
    assert.isAtLeast(turns.length, 16);
  });

  it('of long work leave the others half of the time, however long its pieces are', async () => {
    const portions = new Portions();
    const since = performance.now();
    for (let piece = 0; piece < 10; piece += 1) {
      compute(30);
      await portions.rest();
    }
    // Four pieces are quick; after each of the other six as much time passes as it took.
    assert.isAtLeast(performance.now() - since, 10 * 30 + 5 * 30);
  });

  it('of a generator end with what it returns', async () => {
    function* pieces(): Generator<undefined, string, undefined> {
      for (let piece = 0; piece < 3; piece += 1) {
        compute(3);
        yield;
      }
      return 'done';
    }
    assert.equal(await inPortions(pieces()), 'done');
  });

  it('let others go on once they are used up', async () => {
    const portions = new Portions();
    assert.isFalse(portions.isOver);
    compute(4);
    assert.isTrue(portions.isOver);
    let hasRun = false;
    setImmediate(() => {
      hasRun = true;
    });
    await portions.rest();
    assert.isTrue(hasRun);
    assert.isFalse(portions.isOver);
  });

  it('of others hold up no insert of a few rows once the database has answered', async () => {
    const trx = { raw: () => wait(5, { rows: [] }) } as unknown as Knex;
    const table = new BulkTable<{ id: string }>('usage_run', { id: 'text' });
    let isDone = false;
    let pieces = 0;
    const computeAll = async (): Promise<void> => {
      const portions = new Portions();
      while (!isDone) {
        compute(4);
        pieces += 1;
        await portions.rest();
      }
    };
    const others = [computeAll(), computeAll(), computeAll(), computeAll()];
    const took: number[] = [];
    for (let insert = 0; insert < 5; insert += 1) {
      const before = pieces;
      await table.insert(trx, 't', [{ id: 'a' }]);
      took.push(pieces - before);
    }
    isDone = true;
    await Promise.all(others);
    // What the four compute while the database works for 5 ms, and not also a portion of each.
    assert.isAtMost(Math.min(...took), 3);
  });

  it('of rows are statements of at most 2,000 rows, or of a mebibyte of texts and the row after it', () => {
    const table = new BulkTable<{ id: string; text: string }>('t', {
      id: 'uuid',
      text: 'json text',
    });
    const rowsOf = (lengths: readonly number[]) =>
      lengths.map((length, index) => ({ id: String(index), text: 'a'.repeat(length) }));
    const countsOf = (lengths: readonly number[]): number[] =>
      [...table.insertingAll('t', rowsOf(lengths))].map((statement) => {
        const bindings = statement?.bindings as readonly string[];
        return bindings.find((value) => value.startsWith('{'))?.split(',').length ?? 1;
      });
    const half = 512 * 1024;
    assert.deepEqual(countsOf([]), []);
    assert.deepEqual(countsOf(Array<number>(4_001).fill(1)), [2_000, 2_000, 1]);
    assert.deepEqual(countsOf([half, half, half, half - 1, 1, 1]), [2, 3, 1]);
    assert.deepEqual(countsOf([2 * half, 1, 4 * half, 1]), [1, 2, 1]);
  });

  it('that are written together end with the first failure, when nothing is under way', async () => {
    const done: string[] = [];
    const answer = async (sql: string): Promise<{ rows: [] }> => {
      await wait(sql === 'third' ? 10 : 5);
      done.push(sql);
      if (sql !== 'first') throw new Error(sql);
      return { rows: [] };
    };
    const trx = { raw: answer } as unknown as Knex;
    const statements = ['first', 'second', 'third'].map((sql) => ({ sql, bindings: [] }));
    const error = await writeTogether(trx, statements).catch((caught: unknown) => caught);
    assert.equal((error as Error).message, 'second');
    assert.deepEqual(done, ['first', 'second', 'third']);
  });
});
