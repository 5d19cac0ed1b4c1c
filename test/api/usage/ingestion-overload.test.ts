import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { layCable, type Cable } from '../../support/servers/cable.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { sendRaw, type RawAnswer } from '../../support/http/raw.js';
import { summary } from '../../support/billing/usage.js';
import { until } from '../../start/workbench.js';

const path = '/v1/ingest/usage';

describe('more ingestion than can be published', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  let cable: Cable;
  before(async () => {
    instance = await openTestInstance({
      kafka: null,
      route: async (databaseUrl) => (cable = await layCable(databaseUrl)).url,
    });
    tenant = await instance.tenant();
  });
  after(() => instance.close());

  const send = (body: string | Buffer): Promise<RawAnswer> =>
    sendRaw(instance.url, {
      method: 'POST',
      path,
      body,
      headers: {
        Authorization: `Bearer ${tenant.token}`,
        'Content-Type': 'application/json',
        ...(typeof body === 'string' ? {} : { 'Content-Encoding': 'gzip' }),
      },
    });

  /** Sends all at once while the database hangs; the answers from before it goes on, and from after. */
  const sendWhileHeld = async (bodies: readonly (string | Buffer)[], refused: number) => {
    // The token is known from now on: the database is not asked for it.
    await tenant.post(path, { message: { externalTransactionId: 'first' } }).expect(200);
    cable.hold();
    const held: RawAnswer[] = [];
    let isHeld = true;
    const all = Promise.all(
      bodies.map(async (body) => {
        const answer = await send(body);
        if (isHeld) held.push(answer);
        return answer;
      }),
    );
    try {
      await until(() => held.length >= refused, 30_000, `refusal of ${refused}`);
    } finally {
      isHeld = false;
      cable.release();
    }
    return { held, all: await all };
  };

  const event = (externalTransactionId: string, more: object = {}): string =>
    JSON.stringify({ message: { externalTransactionId, billingAccountRef: 'acme', ...more } });

  const overloads: [name: string, bodies: (string | Buffer)[], accepted: number][] = [
    [
      'the 1,001st request under way',
      Array.from({ length: 1050 }, (_each, index) => event(`many-${index}`)),
      1000,
    ],
    [
      // 64 MiB are 67 bodies of 1,000,000 bytes and a little.
      'bodies under way beyond 64 MiB',
      Array.from({ length: 70 }, (_each, index) =>
        event(`large-${index}`, { text: 'x'.repeat(1_000_000) }),
      ),
      67,
    ],
    [
      // spec/beyond.md R605: what a kilobyte of gzip comes to is known when it has taken the memory: each counts as a MiB.
      'compressed bodies under way beyond 64 MiB',
      Array.from({ length: 70 }, (_each, index) =>
        gzipSync(event(`zipped-${index}`, { text: 'x'.repeat(1_000_000) })),
      ),
      64,
    ],
  ];
  for (const [name, bodies, accepted] of overloads) {
    it(`refuses ${name} with 503 at once, and publishes the others`, async () => {
      const before = await summary(tenant);
      const { held, all } = await sendWhileHeld(bodies, bodies.length - accepted);
      expect(held).to.have.length(bodies.length - accepted);
      for (const { status, headers, text } of held) {
        expect(status).to.equal(503);
        expect(headers['retry-after']).to.equal('1');
        const { error } = JSON.parse(text) as { error: { message: string } };
        expect(JSON.parse(text)).to.deep.equal({
          is_gateway_error: false,
          status_code: 503,
          error,
          extra_fields: {},
        });
      }
      expect(all.filter(({ status }) => status === 200)).to.have.length(accepted);
      // One more made the token known.
      expect(await summary(tenant)).to.include({ accepted: before.accepted + accepted + 1 });
      await tenant.post(path, { message: { externalTransactionId: 'after' } }).expect(200);
    });
  }
});
