import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import { runDurabill, settingsOf } from '../support/servers/command-line.js';
import { external } from '../support/servers/instance.js';
import { useStory, type Story } from '../support/story/story.js';

describe('durabill correct', function () {
  // Each command is a process of its own.
  this.timeout(300_000);
  const story = useStory();
  const { tenant } = story;
  const correctIn = ({ instance, tenant: { id } }: Story, ...words: readonly string[]) =>
    runDurabill(
      { ...settingsOf(instance), PUBLIC_URL: instance.url },
      'correct',
      '--tenant',
      id,
      '--url',
      instance.url,
      '--reason',
      'It was wrong.',
      ...words,
    );
  const correct = (...words: readonly string[]) => correctIn(story, ...words);

  // spec/beyond.md R147
  it('shows what came of it as a table, and refuses what would be left out', async () => {
    await story.account('acme');
    const serviceId = await story.service('Metered', meteredService);
    const [a = '', b = ''] = await story.send(
      usage('acme', serviceId, { dimensions: { api_calls: '1200' } }),
      usage('acme', serviceId, { dimensions: { api_calls: '800' } }),
    );
    const lines = ({ output }: { output: string }): string[][] =>
      output
        .trim()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
    // 200 x 0.02 = 4 and 800 x 0.02 = 16; without the first, 800 are free.
    const canceled = await correct('--cancel', a);
    expect(canceled.errors).to.equal('');
    const [event, , considered, head, all, own] = lines(canceled);
    expect(event?.[0]).to.match(/^event [0-9a-f-]{36} is canceled$/);
    expect(considered).to.deep.equal(['1 event considered, 2 with other charges']);
    expect(head).to.deep.equal(['account', 'currency', 'before', 'after', 'difference']);
    expect(all).to.deep.equal(['all', 'USD', '20', '0', '-20']);
    expect(own).to.deep.equal(['acme', 'USD', '20', '0', '-20']);
    await tenant
      .post(`${external}/services/${serviceId}/rate-cards/USD/versions`, {
        currency: 'USD',
        fromDate: '2026-03-01',
        rows: [
          { priceDimName: 'api_calls', label: 'API calls', priceMethod: 'QUANTITY', unitRate: 0.5 },
        ],
      })
      .expect(201);
    const range = ['--from', '2026-03-01', '--to', '2026-04-01'];
    const dry = await correct(...range, '--account', 'acme', '--dry-run');
    expect(lines(dry).slice(0, 4)).to.deep.equal([
      ['correction none: a dry run writes nothing'],
      ['1 event considered, 1 with other charges'],
      ['account', 'currency', 'before', 'after', 'difference'],
      // 800 x 0.5.
      ['all', 'USD', '0', '400', '400'],
    ]);
    const json = await correct(...range, '--json');
    expect(JSON.parse(json.output)).to.deep.include({ events: 1, changed: 1, dryRun: false });
    expect((await story.event(b)).ratedTransactions[0].amount).to.equal(400);
    const refusals: readonly (readonly [words: readonly string[], why: string])[] = [
      [['--cancel', a, '--dry-run'], '--dry-run is for a range'],
      [['--amend', b], '--amend needs the content'],
      [['--amend', b, '--message', '{'], '--message is no JSON'],
      [['--cancel', a, ...range], 'Give one of'],
      [['--cancel', a], 'is canceled already'],
      [['--from', '2026-03-01'], '--from needs --to'],
    ];
    for (const [words, why] of refusals) {
      const refused = await correct(...words);
      expect(refused.errors, words.join(' ')).to.include(why);
      expect(refused.code).to.equal(1);
    }
  });

  // spec/beyond.md R147
  describe('of what takes longer than an answer is waited for', () => {
    const slow = useStory({ flowTimeoutMs: 1 });

    it('waits for its end, and corrects once', async () => {
      await slow.account('acme');
      const [a = ''] = await slow.send(usage('acme', await slow.service('Calls')));
      await slow.tenant.post(`/v1/usage-events/${a}/cancel`, { reason: '' }).expect(400);
      const done = await correctIn(slow, '--cancel', a);
      // 100 at 0.01.
      expect(done.errors).to.equal('');
      expect(done.output).to.match(/all +USD +1 +0 +-1/);
      const { body } = await slow.tenant.get('/v1/corrections').expect(200);
      expect(body.pagination.total).to.equal(1);
    });
  });
});
