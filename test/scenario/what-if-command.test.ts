import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { useStory } from '../support/story/story.js';

describe('durabill what-if', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const story = useStory();
  const { instance, tenant } = story;
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'durabill-what-if-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const range = ['--from', '2026-03-01', '--to', '2026-04-01'];
  const run = (file: string, ...words: readonly string[]) =>
    runDurabill(
      { ...settingsOf(instance), PUBLIC_URL: instance.url },
      'what-if',
      '--tenant',
      tenant.id,
      '--url',
      instance.url,
      '--changes',
      join(folder, file),
      ...words,
    );

  // spec/beyond.md R237
  it('shows what it would come to as a table, and refuses what it cannot read', async () => {
    await story.account('acme');
    await story.account('globex');
    const serviceId = await story.service('Metered', meteredService);
    await story.send(
      usage('acme', serviceId, { dimensions: { api_calls: '2000' } }),
      usage('globex', serviceId, { dimensions: { api_calls: '900' } }),
    );
    await writeFile(join(folder, 'more.json'), '[{"kind": "usage", "factor": 1.5}]');
    await writeFile(join(folder, 'text.json'), '{"kind": "usage", "factor": 1.5}');
    const tables = ({ output }: { output: string }): string[][] =>
      output
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/ {2,}/));
    // 1,000 are free: 1000 x 0.02 = 20 becomes 2000 x 0.02 = 40, and 0 becomes 350 x 0.02 = 7.
    const tried = await run('more.json', ...range);
    expect(tried.code).to.equal(0);
    expect(tables(tried)).to.deep.include.members([
      ['total', 'before', 'after'],
      ['USD', '20', '47'],
      ['p50', '100 %'],
      ['account', 'currency', 'before', 'after', 'change'],
      ['acme', 'USD', '20', '40', '100 %'],
      ['globex', 'USD', '0', '7', '-'],
      ['The guard passes.'],
    ]);
    const guarded = await run('more.json', ...range, '--account-change-max', '50');
    expect(guarded.code).to.equal(2);
    expect(guarded.output).to.include('accountChangeMax 50 %: acme USD 100 %');
    const json = await run('more.json', ...range, '--account', 'acme', '--json');
    expect(JSON.parse(json.output)).to.deep.include({
      events: 1,
      before: [{ currency: 'USD', amount: 20 }],
      after: [{ currency: 'USD', amount: 40 }],
    });
    const refusals: readonly (readonly [file: string, words: readonly string[], why: string])[] = [
      ['none.json', range, '--changes needs a file with a JSON array: ENOENT'],
      ['text.json', range, '--changes needs a file with a JSON array: this is no array'],
      ['more.json', ['--from', '2026-04-01', '--to', '2026-03-01'], "'from' must be before 'to'"],
      ['more.json', [...range, '--account', 'nobody'], "'accountIds[0]' names no account"],
      ['more.json', [...range, '--account-change-max', 'x'], '--account-change-max is a percent'],
    ];
    for (const [file, words, why] of refusals) {
      const refused = await run(file, ...words);
      expect(refused.errors, words.join(' ')).to.include(why);
      expect(refused.code).to.equal(1);
    }
  });
});
