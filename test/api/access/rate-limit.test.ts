import { expect } from 'chai';
import type request from 'supertest';
import { setTenantPlan, type Tenant } from '../../../src/access/tenants.js';
import { declaredOperations } from '../../support/http/answers.js';
import { cableToDatabase } from '../../support/servers/cable.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { testServers } from '../../support/servers/servers.js';
import {
  makeFolder,
  removeFolder,
  startModule,
  until,
  type Started,
} from '../../start/workbench.js';

const limited = declaredOperations.filter(({ rateLimit }) => rateLimit === 'requests');
const anyId = '01939c6e-7a00-7000-8000-00000000dead';

/** What the headers of an answer say of the limit. */
const headersOf = ({ headers }: request.Response) =>
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) =>
    headers[name] === undefined ? undefined : Number(headers[name]),
  );

describe('rate limits', () => {
  let instance: TestInstance;
  const cable = cableToDatabase();
  /** The API once more, in a process of its own. */
  let second: Started;
  let folder = '';
  const setPlan = (tenant: TestTenant, plan: Tenant['plan'], limit: number | null = null) =>
    setTenantPlan(instance.platform.database.platform, tenant.id, plan, limit);
  const tenantOf = async (plan: Tenant['plan'], limit: number | null = null) => {
    const tenant = await instance.tenant();
    await setPlan(tenant, plan, limit);
    return tenant;
  };

  before(async () => {
    instance = await openTestInstance({
      ingestEventsPerMinute: 5,
      route: cable.route,
    });
    const { temporal } = await testServers();
    const { config } = instance.platform;
    folder = await makeFolder();
    second = await startModule(
      folder,
      `import { startApi } from 'repository/src/api/main.js';
       import { openPlatform } from 'repository/src/process/platform.js';
       const config = ${JSON.stringify({ ...config, port: 0, secret: null })};
       const secret = Buffer.from('${config.secret.toString('base64')}', 'base64');
       const servers = ${JSON.stringify({ databaseUrl: instance.databaseUrl, temporal })};
       const { url } = await startApi(await openPlatform({ ...config, secret }, servers));
       process.stdout.write(url);`,
    );
    await until(() => second.output().startsWith('http'), 90_000, 'the second process');
  });
  after(async () => {
    second.child.kill('SIGKILL');
    await removeFolder(folder);
    await instance.close();
  });

  // spec/platform.md R44
  it('let exactly 100 of 130 requests pass that a standard tenant sends to two processes at once', async () => {
    const tenant = await tenantOf('standard');
    const send = (url: string) =>
      fetch(`${url}/v1/mobjects`, { headers: { authorization: `Bearer ${tenant.token}` } });
    const answers = await Promise.all(
      Array.from({ length: 130 }, (_each, index) =>
        send(index % 2 === 0 ? instance.url : second.output()),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).to.have.length(100);
    expect(statuses.filter((status) => status === 429)).to.have.length(30);
    const remaining = answers
      .filter(({ status }) => status === 200)
      .map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
    // Each request was counted once: 99, 98, ... 0 are left.
    expect(remaining.sort((a, b) => b - a)).to.deep.equal(
      Array.from({ length: 100 }, (_each, index) => 99 - index),
    );
  });

  // spec/platform.md R45
  it('tell every answer how the tenant stands, also errors', async () => {
    const tenant = await tenantOf('enterprise', 50);
    const forbidden = await instance.token(tenant.id, ['TENANTADMIN']);
    const answers = [
      await tenant.get('/v1/webhooks').expect(200),
      await tenant.get('/v1/webhooks?limit=0').expect(400),
      await tenant.get(`/v1/mobjects/${anyId}`).expect(404),
      await tenant.get('/v1/workflows').set('Authorization', `Bearer ${forbidden}`).expect(403),
      await tenant.post('/v1/mobjects', '{').expect(400),
    ];
    const now = Math.floor(Date.now() / 1000);
    answers.forEach((answer, index) => {
      const [limit, remaining, reset] = headersOf(answer);
      expect([limit, remaining]).to.deep.equal([50, 49 - index]);
      expect(reset).to.be.within(now, now + 61);
    });
  });

  // spec/platform.md R46
  it('refuse what is too much with the error body of the family', async () => {
    const tenant = await tenantOf('enterprise', 1);
    await tenant.get('/v1/mobjects').expect(200);
    const answer = await tenant.get('/v1/mobjects').expect(429);
    expect(Number(answer.headers['retry-after'])).to.be.within(1, 60);
    expect(headersOf(answer).slice(0, 2)).to.deep.equal([1, 0]);
    expect(answer.body.error).to.deep.include({ code: 'RATE_LIMITED' });
    expect(answer.body.error.details).to.include({ limit: 1 });
  });

  for (const { id, method, path } of limited) {
    it(`refuse ${id}`, async () => {
      const tenant = await tenantOf('enterprise', 1);
      await tenant.get('/v1/mobjects').expect(200);
      const verb = method.toLowerCase() as 'get' | 'post' | 'put' | 'delete';
      await tenant[verb](path.replace(/\{\w+\}/g, anyId)).expect(429);
    });
  }

  // spec/platform.md R43
  it('are those of the plan, also when it changes', async () => {
    const tenant = await tenantOf('premium');
    expect(headersOf(await tenant.get('/v1/workflows').expect(200))[0]).to.equal(1000);
    await setPlan(tenant, 'enterprise', 7);
    // Known everywhere within a second.
    let limit: number | undefined = 1000;
    for (let triesLeft = 100; limit === 1000 && triesLeft > 0; triesLeft -= 1) {
      [limit] = headersOf(await tenant.get('/v1/workflows'));
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    expect(limit).to.equal(7);
  });

  // spec/platform.md R43
  it('do not hold for anything else', async () => {
    const tenant = await tenantOf('enterprise', 1);
    await tenant.get('/v1/mobjects').expect(200);
    for (const path of ['/v1/usage-events', '/v1/audit', '/api/v1/external/accounts']) {
      const answer = await tenant.get(path).expect(200);
      expect(headersOf(answer), path).to.deep.equal([undefined, undefined, undefined]);
    }
  });

  it('of ingestion are apart, and count events', async () => {
    const tenant = await tenantOf('standard');
    const event = (externalTransactionId: string) => ({
      message: { externalTransactionId, billingAccountRef: 'acme' },
    });
    await tenant.post('/v1/ingest/usage', event('1')).expect(200);
    await tenant.post('/v1/ingest/usage/batch', [event('2'), event('3')]).expect(200);
    // Three of five are sent; three more are too many.
    const batch = [event('4'), event('5'), event('6')];
    const refused = await tenant.post('/v1/ingest/usage/batch', batch).expect(429);
    expect(Number(refused.headers['retry-after'])).to.be.within(1, 60);
    expect(refused.body).to.include({ is_gateway_error: false, status_code: 429 });
    await tenant.post('/v1/ingest/usage', event('4')).expect(429);
    const summary = await tenant.get('/v1/usage-events/summary').expect(200);
    expect(summary.body.accepted).to.equal(3);
  });

  // spec/beyond.md R438
  it('are in the status with what is used and what was refused, of all processes', async () => {
    const tenant = await tenantOf('enterprise', 3);
    const standing = async (of = tenant) => (await of.get('/v1/status').expect(200)).body.limits;
    const nothing = { usageEvents: { limit: 5, used: 0 }, refused: 0, refusedSince: null };
    expect(await standing()).to.deep.equal({ requests: { limit: 3, used: 0 }, ...nothing });
    const begun = Date.now();
    const headers = { authorization: `Bearer ${tenant.token}` };
    let refusedAt: number | undefined;
    for (let n = 0; n < 5; n += 1) {
      for (const url of [instance.url, second.output()]) {
        const { status } = await fetch(`${url}/v1/mobjects`, { headers });
        if (status === 429) refusedAt ??= Date.now();
      }
    }
    // The other process writes it within a second.
    await until(async () => (await standing()).refused === 7, 10_000, 'seven of ten refused');
    const { requests, refusedSince } = await standing();
    expect(requests).to.deep.equal({ limit: 3, used: 3 });
    // In whole seconds, and never after the first refusal.
    expect(Date.parse(refusedSince)).to.be.within(begun - 1_000, refusedAt ?? 0);
    expect(await standing(await tenantOf('standard'))).to.deep.include(nothing);
  });

  it('go on by each server alone while the database is away, and together when it is back', async () => {
    const tenant = await tenantOf('enterprise', 3);
    const list = () => tenant.get('/v1/workflows/schema');
    await list().expect(200);
    await cable.cut();
    const away = [await list(), await list(), await list(), await list()];
    await cable.mend();
    expect(away.map(({ status }) => status)).to.deep.equal([200, 200, 200, 429]);
    const back = [await list(), await list(), await list()];
    expect(back.map(({ status }) => status)).to.deep.equal([200, 200, 429]);
  });
});
