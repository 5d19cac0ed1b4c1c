import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { check } from 'prettier';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const folders = [
  'src/schemas',
  'src/api/handlers',
  'src/activities',
  'src/workflows',
  'src/rating',
  'test',
];

describe('npm run new', function () {
  this.timeout(120_000);
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'durabill-new-'));
    for (const folder of folders) {
      cpSync(join(repository, folder), join(copy, folder), {
        recursive: true,
        filter: (path) => !path.endsWith('histories'),
      });
    }
  });
  afterEach(() => rmSync(copy, { recursive: true, force: true }));

  const run = (...words: string[]) => {
    const program = join(repository, 'scripts/new.js');
    return spawnSync(process.execPath, [program, ...words], { cwd: copy, encoding: 'utf8' });
  };

  const cases: [words: string[], files: string[]][] = [
    [
      ['endpoint', 'billing/tax-rate', 'history'],
      [
        'src/schemas/billing/tax-rate.ts',
        'src/api/handlers/billing/tax-rate.ts',
        'test/api/billing/tax-rate-history.test.ts',
      ],
    ],
    [
      ['flow', 'account', 'rest'],
      [
        'src/schemas/flows/account.ts',
        'src/activities/accounts/account.ts',
        'src/workflows/account.ts',
        'test/workflow/rest-account.test.ts',
      ],
    ],
    [
      ['price-method', 'per-desk'],
      [
        'src/rating/price-methods/per-desk.ts',
        'test/unit/rating/per-desk.test.ts',
        'src/rating/price-methods/index.ts',
      ],
    ],
  ];
  for (const [words, files] of cases) {
    it(`${words.join(' ')} writes its files, formatted, and once`, async () => {
      const { status, stdout } = run(...words);
      expect(status).to.equal(0);
      expect(stdout.trim().split('\n')).to.deep.equal(files);
      const options = { parser: 'typescript', printWidth: 100, singleQuote: true };
      for (const file of files) {
        const text = readFileSync(join(copy, file), 'utf8');
        expect(text, file).not.to.match(/__\w+__|undefined__/);
        expect(await check(text, options), file).to.equal(true);
      }
      expect(run(...words).status, 'a second time').to.equal(1);
    });
  }

  it('puts a price method into the array on one line, or wrapped where it does not fit', async () => {
    const index = join(copy, 'src/rating/price-methods/index.ts');
    const options = { parser: 'typescript', printWidth: 100, singleQuote: true };
    // The third does not fit any more, the fourth finds it wrapped.
    for (const name of ['per-desk', 'per-active-seat', 'per-named-seat', 'per-idle-seat']) {
      expect(run('price-method', name).status, name).to.equal(0);
      expect(await check(readFileSync(index, 'utf8'), options), name).to.equal(true);
    }
    const text = readFileSync(index, 'utf8');
    expect(text).to.include('  perActiveSeat,\n  perNamedSeat,\n  perIdleSeat,\n] as const;');
  });

  it('puts an endpoint beside its resource, and exports what it answers', () => {
    expect(run('endpoint', 'billing/tax-rate', 'history').status).to.equal(0);
    const schema = readFileSync(join(copy, 'src/schemas/billing/tax-rate.ts'), 'utf8');
    expect(schema).to.include("path: '/v1/tax-rates/history'");
    expect(schema).to.include('export const TaxRateHistory = Type.Object(');
  });

  it('refuses what it does not know, and writes nothing', () => {
    expect(run('flow', 'bank', 'close').stderr).to.include("no stub for 'bank'");
    expect(run('flow', 'account', 'set-aside').stderr).to.include('one verb');
    expect(run('price-method', 'PerSeat').stderr).to.include('not in kebab-case');
    expect(run('endpoint', 'billing/nothing', 'summary').stderr).to.include('there is no');
    expect(run('--help').stdout).to.include('npm run new -- endpoint');
  });
});
