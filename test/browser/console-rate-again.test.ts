import { expect } from 'chai';
import { tiers, usage } from '../support/billing/usage.js';
import { external } from '../support/servers/instance.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** A price was wrong for a month and was corrected: the usage of that month is rated by it. */
describe('rating again in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let acme: string;
  let calls: string;

  before(async () => {
    acme = await story.account('acme', { name: 'Acme & Söhne' });
    await story.account('beta', { name: 'Beta' });
    calls = await story.service('Calls');
    const at = (account: string, id: string, day: string, api_calls: string) =>
      usage(account, calls, {
        externalTransactionId: id,
        eventTimestamp: `${day}T10:00:00Z`,
        dimensions: { api_calls },
      });
    // At 0.01 each: 3.00 and 1.00 in March, 2.00 of another account, 5.00 in April.
    await story.send(
      at('acme', 'first', '2026-03-10', '300'),
      at('acme', 'second', '2026-03-11', '100'),
      at('beta', 'third', '2026-03-12', '200'),
      at('acme', 'fourth', '2026-04-01', '500'),
    );
    await story.tenant
      .post(`${external}/services/${calls}/rate-cards/USD/versions`, {
        currency: 'USD',
        fromDate: '2026-03-01',
        rows: [{ priceDimName: 'api_calls', label: 'API calls', ...tiers([0, null, 0.02]) }],
      })
      .expect(201);
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  /** Types into what has this name, by keyboard. */
  const type = async (name: string, text: string) => {
    await visit.tabTo(name);
    await visit.page.keyboard.type(text);
  };
  const press = async (name: string) => {
    await visit.tabTo(name);
    await visit.page.keyboard.press('Enter');
  };
  const chooseMarch = async () => {
    await type('Usage from', '03012026');
    await type('Before', '04012026');
  };
  const dryRun = 'Dry run: rating 2026-03-01 to before 2026-04-01 again';

  // spec/beyond.md R465
  it('shows by keyboard what an account would pay, and then rates its usage again', async () => {
    await visit.open('/console/usage/corrections', 'Corrections');
    await press('Rate again');
    await visit.arrive('Rate again');
    await chooseMarch();
    await type('Account, by its id or number', 'acme');
    await type('Service', 'Calls');
    await type('Reason, which the correction says', 'The card had the wrong price.');
    await visit.inspect('rate-again');
    await press('Show what would change');
    await visit.arrive(dryRun);
    await visit.find('table', 'What accounts pay');
    // 400 at 0.01, and at 0.02.
    for (const said of ['USD 4.00', 'USD 8.00', 'The card had the wrong price.']) {
      await visit.told(said);
    }
    expect(await visit.text()).to.match(/\nEvents\n2\nThat come out different\n2\n/);
    await visit.inspect('rate-again-dry-run');
    const charged = async () =>
      (await story.tenant.get(`/v1/usage?from=2026-03-01&to=2026-05-01&account=${acme}`)).body.data;
    // A dry run writes nothing: 4.00 and 5.00.
    expect((await charged())[0]).to.include({ amount: 9 });
    await press('Rate it again');
    await visit.arrive('Rating 2026-03-01 to before 2026-04-01 again');
    await visit.find('link', 'Each charge before and after');
    await visit.inspect('rated-again');
    // April's usage stays: 8.00 and 5.00.
    expect((await charged())[0]).to.include({ amount: 13 });
    await press('Each charge before and after');
    await visit.arrive('The card had the wrong price.');
    for (const said of ['USD 3.00', 'USD 6.00', 'They part at']) await visit.told(said);
  });

  // spec/beyond.md R465
  it('offers nothing where no charge comes out different, and says so', async () => {
    await visit.open(`/console/accounts/${acme}`, 'Acme & Söhne');
    await press('Rate again');
    await visit.arrive('Rate again');
    await visit.find('link', 'Acme & Söhne');
    await chooseMarch();
    await type('Reason, which the correction says', 'Once more.');
    await press('Show what would change');
    await visit.arrive(dryRun);
    await visit.told('No charge comes out different: there is nothing to correct.');
    expect(await visit.text()).to.not.include('Rate it again');
    await visit.inspect('rate-again-same');
    await visit.open('/console/usage/rate-again?from=2020-03-01&to=2020-04-01', 'Rate again');
    await type('Reason, which the correction says', 'Long ago.');
    await press('Show what would change');
    await visit.told('Nothing was rated in this time.');
  });

  it('says at its place what cannot be rated again, and what is not there', async () => {
    await visit.open('/console/usage/rate-again', 'Rate again');
    await chooseMarch();
    await type('Account, by its id or number', 'nobody');
    await type('Reason, which the correction says', 'Mistyped.');
    await press('Show what would change');
    await visit.told('This did not work');
    await visit.told("'nobody'");
    await visit.checkAccess();
    await visit.shoot('rate-again-wrong');
    const absent = '00000000-0000-4000-8000-000000000000';
    await visit.open(`/console/usage/rate-again/${absent}`, 'Rating again');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    visit.complaints.splice(0);
  });
});
