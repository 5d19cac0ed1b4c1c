import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { accessKeyId, createAccessKey, revokeAccessKey } from '../../../src/access/access-keys.js';
import { usage } from '../../support/billing/usage.js';
import { createWallet } from '../../support/billing/wallets.js';
import { useStory } from '../../support/story/story.js';
import { openTestInstance, type TestTenant } from '../../support/servers/instance.js';

interface Heard {
  readonly usage: boolean;
  readonly executions: readonly string[] | null;
}

/** A stream of changes as a client reads it. */
class ChangeStream {
  readonly status: number;
  readonly type: string | null;
  /** What was heard, and after how many milliseconds. */
  readonly events: Heard[] = [];
  isEnded = false;
  readonly ended: Promise<void>;
  readonly #abort: AbortController;

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.type = response.headers.get('content-type');
    this.#abort = abort;
    this.ended = this.#read(response).catch(() => undefined);
  }

  static async open(url: string, token: string, seconds = 60): Promise<ChangeStream> {
    const abort = new AbortController();
    const response = await fetch(`${url}/v1/changes?seconds=${seconds}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: abort.signal,
    });
    return new ChangeStream(response, abort);
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const part of response.body ?? []) {
      text += Buffer.from(part as Uint8Array).toString();
      const whole = text.split('\n\n');
      text = whole.pop() ?? '';
      for (const one of whole.filter((each) => each.startsWith('data: '))) {
        this.events.push(JSON.parse(one.slice('data: '.length)) as Heard);
      }
    }
    this.isEnded = true;
  }

  /** Waits for an event that fits; how soon it comes, `npm run bench -- console` measures. */
  async hears(isIt: (event: Heard) => boolean): Promise<void> {
    const since = performance.now();
    while (!this.events.some(isIt)) {
      if (performance.now() - since > 10_000) {
        throw new Error(`Not heard; but ${JSON.stringify(this.events)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.ended;
  }
}

describe('GET /v1/changes', function () {
  this.timeout(120_000);
  const story = useStory();
  let calls: string;
  const open = (of: TestTenant = story.tenant, seconds?: number) =>
    ChangeStream.open(story.instance.url, of.token, seconds);

  before(async () => {
    await story.account('acme');
    calls = await story.service('API calls');
    const account = await story.account('beta');
    await story.subscribe(account, [calls]);
  });

  // spec/beyond.md R420
  it('tells of usage that was rated, and of no other tenant', async () => {
    const other = await story.instance.tenant();
    const [own, foreign] = await Promise.all([open(), open(other)]);
    expect(own.status).to.equal(200);
    expect(own.type).to.equal('text/event-stream; charset=utf-8');
    await story.send(usage('beta', calls));
    await own.hears(({ usage }) => usage);
    expect(foreign.events).to.deep.equal([]);
    await Promise.all([own.close(), foreign.close()]);
  });

  // spec/beyond.md R535
  it('tells of what is held, and of what ends with its time', async () => {
    const { tenant } = story;
    const accountId = await story.account('gamma');
    await createWallet(tenant, accountId, { balance: 20 });
    const body = { accountId, currency: 'USD', amount: 1 };
    const hold = (key: string, expiresInSeconds: number) =>
      tenant.post('/v1/holds', { ...body, key, expiresInSeconds }).expect(201);
    const stream = await open();
    await hold('one', 600);
    await stream.hears(({ usage }) => usage);
    stream.events.length = 0;
    await hold('two', 600).set('idempotency-key', 'two');
    await stream.hears(({ usage }) => usage);
    const { expiresAt } = (await hold('three', 1)).body;
    await wait(Date.parse(expiresAt) - Date.now());
    // What began was told by then.
    stream.events.length = 0;
    await stream.hears(({ usage }) => usage);
    await stream.close();
  });

  it('names the executions that begin, go on and end', async () => {
    const stream = await open();
    const { body } = await story.tenant.post('/v1/workflows/billing-run/execute', {
      data: { periodStart: '2026-01-01', periodEnd: '2026-01-31', dryRun: true },
    });
    const { executionId } = body as { readonly executionId: string };
    await stream.hears(({ executions }) => executions?.includes(executionId) === true);
    await stream.close();
  });

  // spec/beyond.md R421
  it('ends after its time and with its token, and is asked for how long', async () => {
    const { instance, tenant } = story;
    const token = await instance.platform.tokens.issue({
      tenantId: tenant.id,
      orgId: 'org',
      roles: ['READER'],
      subject: 'tester',
      expiresInSeconds: 4,
    });
    const since = performance.now();
    const [short, ofToken] = await Promise.all([
      open(tenant, 1),
      ChangeStream.open(instance.url, token),
    ]);
    await short.ended;
    expect(short.isEnded).to.equal(true);
    expect(performance.now() - since).to.be.at.least(900);
    expect(ofToken.isEnded).to.equal(false);
    await ofToken.ended;
    expect(ofToken.isEnded).to.equal(true);
    // It was asked for a minute.
    expect(performance.now() - since).to.be.lessThan(30_000);
    await tenant.get('/v1/changes').expect(400);
    await tenant.get('/v1/changes?seconds=0').expect(400);
  });

  it('ends within some seconds when its access key is revoked', async () => {
    const { url, platform } = story.instance;
    const db = platform.database.platform;
    const key = await createAccessKey(db, {
      tenantId: story.tenant.id,
      orgId: 'org',
      roles: ['READER'],
      name: null,
    });
    const stream = await ChangeStream.open(url, key);
    expect(stream.status).to.equal(200);
    await revokeAccessKey(db, accessKeyId(key));
    await stream.ended;
    expect(stream.isEnded).to.equal(true);
  });

  // spec/beyond.md R422
  it('refuses a stream above 500 of a tenant, and listens on one connection for all', async () => {
    const { instance } = story;
    const crowd = await instance.tenant();
    const streams = await Promise.all(Array.from({ length: 500 }, () => open(crowd)));
    expect(new Set(streams.map(({ status }) => status))).to.deep.equal(new Set([200]));
    const refused = await open(crowd);
    expect(refused.status).to.equal(429);
    const free = await open();
    expect(free.status).to.equal(200);
    const db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
    const { rows } = await db.query(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and query = 'listen tenant_change'`,
    );
    await db.end();
    expect(rows).to.deep.equal([{ count: 1 }]);
    await Promise.all([...streams, free].map((stream) => stream.close()));
    // The server hears of each when its connection has ended.
    let again = await open(crowd);
    while (again.status === 429) again = await open(crowd);
    expect(again.status).to.equal(200);
    await again.close();
  });

  it('ends with the process', async () => {
    const instance = await openTestInstance();
    const stream = await ChangeStream.open(instance.url, (await instance.tenant()).token);
    await instance.close();
    await stream.ended;
    expect(stream.isEnded).to.equal(true);
  });
});
