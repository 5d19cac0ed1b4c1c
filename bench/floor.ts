/** The floors in a process of their own: the least that any implementation in Koa must do. */
import { createServer } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import koaBody from 'koa-body';
import pg from 'pg';
import { openAuthenticator } from '../src/access/authenticate.js';
import { openDatabase } from '../src/platform/database/database.js';
import { secretBox } from '../src/platform/secret-box.js';
import { openTokenKeys } from '../src/access/tokens.js';
import { serve } from './processes.js';

interface FloorSetup {
  readonly databaseUrl: string;
  readonly secret: string;
  readonly port: number;
  readonly tenantId: string;
}

const setup = JSON.parse(process.env['BENCH_SETUP'] ?? '{}') as FloorSetup;
const database = openDatabase(setup.databaseUrl, 2);
const keys = await openTokenKeys(
  database.platform,
  secretBox(Buffer.from(setup.secret, 'base64')),
  'http://localhost',
);
const authenticate = openAuthenticator(database.platform, keys);
const pool = new pg.Pool({ connectionString: setup.databaseUrl, max: 20 });

// The statements that the product runs for the same two reads.
const byId = `select account.* from account
  where deleted_at is null and account.id = $1 and account.tenant_id = $2 limit 1`;
const pageOf20 = `select account.* from account
  where deleted_at is null and account.tenant_id = $1 order by name asc, id asc limit 20`;
const count = `select count(*) from (
  select account.* from account where deleted_at is null and account.tenant_id = $1) as temp`;

const router = new Router();
router.post('/ingest', koaBody({ jsonLimit: '1mb' }), async (ctx) => {
  await authenticate(ctx.get('authorization').slice('Bearer '.length));
  ctx.body = { status: 'published', topic: 'usage', partition: 0, offset: 0 };
});
// The least that promises no money twice: the balance moves if there is enough, beside the hold.
router.post('/holds', koaBody({ jsonLimit: '1mb' }), async (ctx) => {
  await authenticate(ctx.get('authorization').slice('Bearer '.length));
  const { accountId, amount, expiresInSeconds, key } = ctx.request.body as Record<string, unknown>;
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<object>(
      `update floor_balance set held = held + $2 where account_id = $1 and balance - held >= $2
       returning balance - held as available`,
      [accountId, amount],
    );
    await client.query(
      `insert into floor_hold values ($1, $2, $3, now() + make_interval(secs => $4))`,
      [key, accountId, amount, expiresInSeconds],
    );
    await client.query('commit');
    ctx.status = 201;
    ctx.body = rows[0];
  } finally {
    client.release();
  }
});
router.get('/accounts/:id', async (ctx) => {
  const { rows } = await pool.query<object>(byId, [ctx.params['id'], setup.tenantId]);
  ctx.body = rows[0];
});
router.get('/accounts', async (ctx) => {
  const total = await pool.query<{ count: string }>(count, [setup.tenantId]);
  const { rows } = await pool.query<object>(pageOf20, [setup.tenantId]);
  ctx.body = { rows, total: Number(total.rows[0]?.count) };
});
const handle = new Koa().use(router.routes()).callback();
const server = createServer((request, response) => void handle(request, response));
await new Promise<void>((resolve) => {
  server.listen(setup.port, '127.0.0.1', resolve);
});
serve({}, async () => {
  server.close();
  await pool.end();
  await database.close();
});
