import { request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { readExport } from '../../support/billing/exports.js';
import { cableToDatabase } from '../../support/servers/cable.js';
import { fillTenant } from '../../support/servers/fill.js';
import { allStatements } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const events = 60_000;
const pageRows = 5_000;

describe('exports of many rows', () => {
  const cable = cableToDatabase();
  const instance = useInstance({ route: cable.route });
  const tenant = useTenant(instance);
  const neighbour = useTenant(instance);
  before(async function () {
    this.timeout(120_000);
    const db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
    await fillTenant(db, { tenantId: tenant.id, accounts: 10, events, services: 2 });
    await db.query('analyze rated_transaction, usage_event');
    await db.end();
  });

  /** An answer of which nothing was read yet. */
  async function begin(address: string, method = 'GET'): Promise<IncomingMessage> {
    const { hostname, port } = new URL(instance.url);
    const headers = { Authorization: `Bearer ${tenant.token}` };
    const path = `/v1/exports/${address}`;
    const outgoing = request({ hostname, port, method, path, headers, agent: false }).end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return incoming;
  }

  /** What comes of an answer until it ends, as it should or not. */
  async function readAll(incoming: IncomingMessage): Promise<{ text: string; isWhole: boolean }> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
      return { text: Buffer.concat(chunks).toString('utf8'), isWhole: true };
    } catch {
      return { text: Buffer.concat(chunks).toString('utf8'), isWhole: false };
    }
  }

  // spec/beyond.md R24, R26
  it('have each row once, whole or in two parts, in every format', async function () {
    this.timeout(120_000);
    const lines = (await readExport(instance, tenant, 'rated-transactions')).text.split('\n');
    expect(lines.slice(-2)).to.deep.equal([`{"end":true,"rows":${events}}`, '']);
    const rows = lines
      .slice(0, -2)
      .map((line) => JSON.parse(line) as { cursor: string; id: string });
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(events);
    const sorted = rows.map(({ cursor }) => cursor).sort();
    expect(rows.map(({ cursor }) => cursor)).to.deep.equal(sorted);
    const middle = rows[31_233];
    const rest = await readExport(instance, tenant, `rated-transactions?after=${middle?.cursor}`);
    expect(rest.text).to.equal(
      [...lines.slice(31_234, -2), `{"end":true,"rows":${events - 31_234}}`, ''].join('\n'),
    );
    const csv = (await readExport(instance, tenant, 'rated-transactions?format=csv')).text;
    expect(
      csv
        .split('\r\n')
        .slice(1, -2)
        .map((line) => line.split(',')[0]),
    ).to.deep.equal(sorted);
    expect(csv.endsWith(`# end, rows: ${events}\r\n`)).to.equal(true);
  });

  // spec/beyond.md R24
  it('are only those of their tenant', async () => {
    const { text } = await readExport(instance, neighbour, 'usage-events');
    expect(text).to.equal('{"end":true,"rows":0}\n');
  });

  // spec/beyond.md R27
  it('are read no faster than they are taken', async function () {
    this.timeout(120_000);
    let pages = 0;
    const count = ({ sql }: { sql: string }) => {
      if (sql.includes('string_agg')) pages += 1;
    };
    const statements = allStatements(tenant.scope);
    statements.on('query', count);
    try {
      const incoming = await begin('usage-events');
      // Whoever reads nothing gets what the buffers between hold, and no more.
      for (let before = -1; before !== pages;) {
        before = pages;
        await wait(500);
      }
      expect(pages).to.be.within(2, 9);
      const { text, isWhole } = await readAll(incoming);
      expect(isWhole).to.equal(true);
      expect(text.endsWith(`{"end":true,"rows":${events}}\n`)).to.equal(true);
      expect(pages).to.equal(events / pageRows);
    } finally {
      statements.off('query', count);
    }
  });

  const broken: [format: string, last: RegExp | null][] = [
    ['ndjson', /\n\{"end":false,"rows":\d+,"error":\{"code":"\w+","message":"[^"]+"\}\}\n$/],
    ['csv', /\r\n# broke off, rows: \d+: \w+: [^\r\n]+\r\n$/],
    ['parquet', null],
  ];
  for (const [format, last] of broken) {
    // spec/beyond.md R27
    it(`that break off do not end as ${format}`, async function () {
      this.timeout(120_000);
      const incoming = await begin(`usage-events?format=${format}`);
      await cable.cut();
      const { text, isWhole } = await readAll(incoming);
      await cable.mend();
      expect(isWhole).to.equal(false);
      if (last === null) expect(text.endsWith('PAR1')).to.equal(false);
      else expect(text).to.match(last);
      expect(text).not.to.match(/"end":true|# end/);
      // It holds no place any more, once a connection that was cut is not lent any more.
      let status = 503;
      while (status === 503) {
        ({ status } = await readExport(instance, tenant, `payments?format=${format}`));
      }
      expect(status).to.equal(200);
    });
  }

  // spec/beyond.md R27
  it('are two at once of a tenant; who leaves gives up the place', async () => {
    const two = await Promise.all([begin('usage-events'), begin('usage-events')]);
    const third = await tenant.get('/v1/exports/usage-events').expect(429);
    expect(Number(third.headers['retry-after'])).to.be.within(1, 60);
    const other = await readExport(instance, neighbour, 'usage-events');
    expect(other.status).to.equal(200);
    for (const incoming of two) incoming.destroy();
    let status = 429;
    while (status === 429) ({ status } = await tenant.get('/v1/exports/payments'));
    expect(status).to.equal(200);
  });

  it('answer HEAD without a row', async () => {
    const { text, isWhole } = await readAll(await begin('usage-events', 'HEAD'));
    expect([text, isWhole]).to.deep.equal(['', true]);
  });
});
