import { expect } from 'chai';
import type { Readable } from 'node:stream';
import { openDatabase, type Database } from '../../src/platform/database/database.js';
import { openTestInstance, type TestInstance } from '../support/servers/instance.js';

/** The connections of a pool, as knex has them. */
interface Pool {
  acquireConnection(): Promise<{ readonly connection: { readonly stream: Readable } }>;
  releaseConnection(connection: unknown): Promise<void>;
}

describe('a long answer of the database', () => {
  let instance: TestInstance;
  let database: Database;
  before(async () => {
    instance = await openTestInstance();
    database = openDatabase(instance.databaseUrl, 1);
  });
  after(async () => {
    await database.close();
    await instance.close();
  });

  /** The only socket of the pool. */
  const socket = async (): Promise<Readable> => {
    const pool = database.platform.client as Pool;
    const connection = await pool.acquireConnection();
    await pool.releaseConnection(connection);
    return connection.connection.stream;
  };

  it('is read in turns with everything else', async () => {
    const stream = await socket();
    let turn = 0;
    let isOver = false;
    const piecesOf = new Map<number, number>();
    const next = (): void => {
      turn += 1;
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    stream.on('data', () => {
      // What the server sends meanwhile lies ready, so that all of it could be read at once.
      if (piecesOf.size === 0) {
        for (const until = performance.now() + 200; performance.now() < until;);
      }
      piecesOf.set(turn, (piecesOf.get(turn) ?? 0) + 1);
    });
    const { rows } = await database.platform.raw<{ rows: { text: string }[] }>(
      `select repeat('x', 1000) as "text" from generate_series(1, 8000)`,
    );
    isOver = true;

    expect(rows).to.have.lengthOf(8_000);
    expect([...piecesOf.values()].reduce((sum, pieces) => sum + pieces, 0)).to.be.above(60);
    expect(Math.max(...piecesOf.values())).to.be.at.most(2);
  });
});
