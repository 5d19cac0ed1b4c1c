import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { dataFile } from '../../src/platform/data-folder.js';
import { readInstance } from '../../src/embedded/instance-lock.js';
import { defaultTaskQueue } from '../../src/process/platform.js';
import type { KillableProduct } from '../start/killable.js';
import { oauthStepsAt } from '../support/http/oauth.js';
import type { Check } from './report.js';

/** What was taken from a credential, or reached beside the API, must be worth nothing within this. */
const refusedWithinMs = 10_000;
const tenant = 'leaky';
const accounts = '/api/v1/external/accounts';

type Attempt = (product: KillableProduct) => Promise<void>;

async function run(product: KillableProduct, ...words: readonly string[]): Promise<string> {
  const { code, output } = await product.command(...words);
  if (code !== 0) throw new Error(`${words.join(' ')}: ${output.slice(-300)}`);
  return output;
}

async function statusOf(product: KillableProduct, token: string): Promise<number> {
  const response = await product.send(token, accounts, { method: 'GET' });
  await response.text();
  return response.status;
}

async function mustWork(product: KillableProduct, token: string): Promise<void> {
  const status = await statusOf(product, token);
  if (status !== 200) throw new Error(`It is refused before anything has happened: ${status}`);
}

/** Resolves once what had worked is refused; throws where it still works after ten seconds. */
async function untilRefused(what: string, isRefused: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + refusedWithinMs;
  while (!(await isRefused())) {
    if (Date.now() > end) throw new Error(`${what} still works after ${refusedWithinMs} ms`);
    await wait(200);
  }
}

const refused = (product: KillableProduct, token: string): Promise<void> =>
  untilRefused('The token', async () => [401, 403].includes(await statusOf(product, token)));

/** A key of the tenant: what it is, and the id by which it is revoked. */
async function makeKey(product: KillableProduct): Promise<{ key: string; id: string }> {
  const words = [
    'access-key',
    'create',
    '--tenant',
    tenant,
    '--create-tenant',
    '--org',
    'o',
    '--roles',
    'ADMIN',
  ];
  const key = /dbk_([0-9a-f]{16})_[\w-]+/.exec(await run(product, ...words));
  return { key: key?.[0] ?? '', id: key?.[1] ?? '' };
}

/** A grant of this credential, with a code beside that nobody has exchanged yet. */
async function makeGrant(product: KillableProduct, credential: string) {
  const steps = oauthStepsAt(product.url);
  const clientId = await steps.client();
  const tokens = await steps.tokens(clientId, credential);
  const { form } = await steps.code(clientId, credential);
  const refresh = { grant_type: 'refresh_token', client_id: clientId };
  return {
    accessToken: tokens.access_token,
    isRefreshRefused: async () =>
      (await steps.token({ ...refresh, refresh_token: tokens.refresh_token })).status === 400,
    isCodeRefused: async () => (await steps.token(form)).status === 400,
  };
}

/** Every statement must fail for the role that requests run as. */
async function mustBeDenied(product: KillableProduct, statements: readonly string[]) {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  try {
    for (const statement of statements) {
      await client.query('begin; set local role durabill_app');
      const done = await client.query(statement).then(
        ({ rowCount }) => rowCount ?? 0,
        () => undefined,
      );
      await client.query('rollback');
      if (done !== undefined) throw new Error(`This was carried out: ${statement}`);
    }
  } finally {
    await client.end();
  }
}

/** Somebody with a client of Temporal of his own starts a workflow in another tenant's name. */
async function forge(product: KillableProduct): Promise<void> {
  const instance = await readInstance(product.folder);
  const address = instance?.temporalAddress ?? '';
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace: instance?.temporalNamespace ?? 'default' });
    const executionId = randomUUID();
    const handle = await client.workflow.start('savePayment', {
      workflowId: `neighbour/payment/${executionId}`,
      taskQueue: defaultTaskQueue,
      args: [
        {
          executionId,
          tenantId: 'neighbour',
          orgId: 'o',
          actor: 'boss',
          requestId: 'x',
          input: { start: { payment_reference: executionId, amount: 1 } },
        },
      ],
    });
    const end = await Promise.race([
      handle.result().then(
        () => 'completed',
        () => 'failed',
      ),
      wait(refusedWithinMs).then(() => 'still running'),
    ]);
    const written = await product.query<{ count: string }>(
      `select count(*) as count from payment where payment_reference = '${executionId}'`,
    );
    if (end === 'still running') await handle.terminate('the test is over');
    if (end === 'completed' || written[0]?.count !== '0') throw new Error(`It has ${end}`);
  } finally {
    await connection.close();
  }
}

const leaks: readonly (readonly [name: string, attempt: Attempt])[] = [
  [
    'a token for longer than any may live is not made',
    async (product) => {
      const words = ['token', '--tenant', tenant, '--create-tenant', '--expires', '999999d'];
      const { code } = await product.command(...words);
      if (code === 0) throw new Error('It was made');
    },
  ],
  [
    'a token that is revoked',
    async (product) => {
      const token = await product.token(tenant);
      await mustWork(product, token);
      await run(product, 'token', 'revoke', token);
      await refused(product, token);
    },
  ],
  [
    'what a revoked access key has made: tokens, refreshing, a code that was not exchanged',
    async (product) => {
      const { key, id } = await makeKey(product);
      const grant = await makeGrant(product, key);
      await mustWork(product, grant.accessToken);
      await run(product, 'access-key', 'revoke', id);
      await refused(product, key);
      await refused(product, grant.accessToken);
      await untilRefused('The refresh token', grant.isRefreshRefused);
      await untilRefused('The code', grant.isCodeRefused);
    },
  ],
  [
    'a grant that a token of 15 s has made, after the token',
    async (product) => {
      const since = Date.now();
      const grant = await makeGrant(product, await product.token(tenant, '15s'));
      await wait(Math.max(0, since + 16_000 - Date.now()));
      await untilRefused('The refresh token', grant.isRefreshRefused);
      await refused(product, grant.accessToken);
    },
  ],
  [
    'tokens of a tenant that is suspended',
    async (product) => {
      const token = await product.token(tenant);
      await mustWork(product, token);
      await run(product, 'tenant', 'suspend', tenant);
      await refused(product, token);
      await run(product, 'tenant', 'resume', tenant);
    },
  ],
  ['a workflow that somebody else starts', forge],
  [
    "Temporal's file, for other users of the machine",
    async ({ folder }) => {
      const { mode } = await stat(dataFile.temporal(folder));
      if ((mode & 0o077) !== 0) throw new Error(`It has the mode ${(mode & 0o777).toString(8)}`);
    },
  ],
  [
    'changes of the audit, keys and tenants by the role of requests',
    (product) =>
      mustBeDenied(product, [
        `update audit set actor = 'nobody'`,
        'delete from audit',
        'truncate audit',
        `insert into signing_key (id) values ('forged')`,
        'delete from tenant',
      ]),
  ],
];

/** Tries every leak; what is not refused is a fault. */
export async function tryLeaks(
  product: KillableProduct,
  tell: (text: string) => void,
): Promise<Check[]> {
  await run(product, 'tenant', 'create', tenant);
  const checks: Check[] = [];
  for (const [name, attempt] of leaks) {
    const fault = await attempt(product).then(
      () => undefined,
      (error: unknown) => String((error as Error).message).slice(0, 300),
    );
    checks.push({ name: `refused: ${name}`, fault });
    tell(`refused: ${name}: ${fault === undefined ? 'ok' : `FAILED: ${fault}`}`);
  }
  return checks;
}
