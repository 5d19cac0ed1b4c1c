import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import { every, subscription } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

/** The example of `test/support/story/README.md`. */
describe('seats, billed by the month', () => {
  const story = useStory({ startsOn: '2028-01-31' });

  it('charge the days that they were there', async () => {
    const acme = await story.account('acme', { netTerm: 'Net 30' });
    const seats = await story.service('Seats', subscription('Seats', 31));
    const calls = await story.service('Calls');
    const contract = await story.subscribe(acme, [{ serviceId: seats, ...every('Monthly') }], {
      startDate: '2028-01-01',
    });
    await story.send(usage('acme', calls, { eventTimestamp: '2028-01-31T23:59:59Z' }));
    const january = await story.bill(story.jumpMonth());
    expect(january.lines).to.deep.equal([
      // 100 x 0.01
      'API calls 2028-01-31..2028-01-31 1',
      // 31 x 31 / 31
      'Seats 2028-01-01..2028-01-31 31',
    ]);

    story.travelTo('2028-02-10');
    await story.endLine(contract.lines[0]?.id, '2028-02-20');
    const february = await story.bill(story.jumpMonth());
    // 31 x 20 / 29 = 21.379...
    expect(february.lines).to.deep.equal(['Seats 2028-02-01..2028-02-20 21.38']);
  });
});
