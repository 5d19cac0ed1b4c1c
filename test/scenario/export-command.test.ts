import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { fillExports } from '../support/billing/exported-rows.js';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

describe('durabill export', function () {
  // Each command is a process of its own.
  this.timeout(120_000);
  const instance = useInstance();
  const tenant = useTenant(instance);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-export-'));
    const db = new pg.Client({ connectionString: instance.databaseUrl });
    await db.connect();
    await fillExports(db, tenant.id);
    await db.end();
  });
  after(() => rm(folder, { recursive: true }));

  const run = (url: string, ...words: string[]) =>
    runDurabill(settingsOf(instance), 'export', ...words, '--tenant', tenant.id, '--url', url);
  const file = (name: string): string => join(folder, name);

  it('writes to standard output, and says on standard error how many there were', async () => {
    const ended = await run(instance.url, 'rated-transactions', '--account', 'A-1');
    expect(ended.output.trimEnd().split('\n')).to.have.length(3);
    expect(ended.output).to.match(/\{"end":true,"rows":2\}\n$/);
    expect(ended.errors).to.match(/^2 rows, \d+ rows\/s, /m);
    expect(ended.code).to.equal(0);
  });

  for (const format of ['ndjson', 'csv'] as const) {
    // spec/beyond.md R24, R26
    it(`goes on behind the last whole row of ${format}, wherever it was cut`, async () => {
      const path = file(`payments.${format}`);
      const words = ['payments', '--format', format, '--out', path];
      expect((await run(instance.url, ...words)).code).to.equal(0);
      const whole = await readFile(path, 'utf8');
      const second = whole.indexOf('2026-03-06~');
      // Within the last row, within the line break of the first one's comment, within the header.
      for (const cut of [second + 20, whole.indexOf('lines"') - 1, 8]) {
        await writeFile(path, whole.slice(0, cut));
        const ended = await run(instance.url, ...words, '--resume');
        expect(ended.code, ended.errors).to.equal(0);
        expect(await readFile(path, 'utf8'), String(cut)).to.equal(whole);
      }
      const again = await run(instance.url, ...words, '--resume');
      expect(again.errors).to.match(/has all 2 rows/);
    });

    it(`goes on with no ${format} of another kind`, async () => {
      const path = file(`other.${format}`);
      const words = ['--format', format, '--out', path];
      expect((await run(instance.url, 'payments', ...words)).code).to.equal(0);
      const whole = await readFile(path, 'utf8');
      const part = whole.slice(0, whole.indexOf('2026-03-06~') + 20);
      for (const text of [whole, part]) {
        await writeFile(path, text);
        const ended = await run(instance.url, 'invoices', ...words, '--resume');
        expect(ended.errors).to.match(
          /^durabill: '.*' has other columns than an export of invoices/,
        );
        expect(ended.code).to.equal(1);
        expect(await readFile(path, 'utf8')).to.equal(text);
      }
    });
  }

  // spec/beyond.md R27
  it('ends with exit code 1 where the end is missing', async () => {
    const cases: [string, string, RegExp][] = [
      ['ndjson', '{"cursor":"a"}\n', /not whole: its end is missing/],
      [
        'ndjson',
        '{"cursor":"a"}\n{"end":false,"rows":1,"error":{"code":"X","message":"gone"}}\n',
        /not whole: .*gone/,
      ],
      ['csv', 'cursor,id\r\na,1\r\n# broke off, rows: 1: X: gone\r\n', /not whole: .*gone/],
      ['parquet', 'PAR1 and half of it', /not whole: its end is missing/],
    ];
    for (const [format, body, message] of cases) {
      const server = createServer((_request, response) => response.end(body));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const ended = await run(`http://127.0.0.1:${port}`, 'invoices', '--format', format);
      server.close();
      expect(ended.errors).to.match(message);
      expect(ended.code).to.equal(1);
    }
  });

  it('says what the API refuses', async () => {
    const ended = await run(instance.url, 'revisions');
    expect(ended.errors).to.match(
      /^durabill: 400: 'kind' 'revisions' must be one of: usage-events/,
    );
    expect(ended.code).to.equal(1);
  });
});
