import { expect } from 'chai';
import type { HTTPRequest } from 'puppeteer-core';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** Events that could not be rated: mended and sent again, or dismissed. */
describe('rejected events in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;

  before(async () => {
    await story.account('acme', { name: 'Acme' });
    const calls = await story.service('Calls');
    const of = (externalTransactionId: string, api_calls: string) =>
      usage('acme', calls, { externalTransactionId, dimensions: { api_calls } });
    await story.send(
      of('wrong', 'a lot'),
      of('test', 'none at all'),
      usage('nobody', calls, { externalTransactionId: 'lost' }),
    );
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  const press = async (name: string) => {
    await visit.tabTo(name);
    await visit.page.keyboard.press('Enter');
  };
  const reason = async (text: string) => {
    await visit.tabTo('Reason, which is kept with it');
    await visit.page.keyboard.type(text);
  };

  // spec/beyond.md R369
  it('are counted by reason, and each leads to its events', async () => {
    await visit.open('/console/usage/events?status=rejected', 'Rejected events');
    await visit.find('table', 'Rejected events by reason');
    await visit.find('link', 'lost');
    await visit.inspect('rejected-by-reason');
    // spec/beyond.md R511
    const list = '::-p-aria([name="Events, the last received first"][role="table"])';
    // spec/beyond.md R545
    await visit.find('columnheader', 'Received');
    const box = await (await visit.page.waitForSelector(list))?.boundingBox();
    // Three rows, with its caption and head.
    expect(box?.height).to.be.below(3 * 85 + 100);
    expect((box?.y ?? 0) + (box?.height ?? 0)).to.be.below(900);
    // spec/beyond.md R558: each part of a code stands on one line.
    const lines = await visit.page.evaluate(`(() => {
      const found = [];
      const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode())
        for (const { 0: part, index } of text.data.matchAll(/[A-Z]{3,}_?/g)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + part.length);
          found.push(part + ' ' + range.getClientRects().length);
        }
      return found;
    })()`);
    expect(lines).to.include.members(['ACCOUNT_ 1', 'NOT_ 1', 'FOUND 1', 'DIMENSION 1']);
    expect((lines as string[]).filter((line) => !line.endsWith(' 1'))).to.deep.equal([]);
    await press('INVALID_DIMENSION');
    await visit.told('INVALID_DIMENSION, shown below');
    await visit.told('1 to 2 of 2');
    expect(visit.page.url()).to.include('code=INVALID_DIMENSION');
    expect(await visit.text()).to.not.include('lost');
    await visit.checkAccess();
    await visit.shoot('rejected-of-reason');
    await press('ACCOUNT_NOT_FOUND');
    await visit.told('1 to 1 of 1');
    await visit.find('link', 'lost');
  });

  // spec/beyond.md R427
  it('are mended and sent again from their list by keyboard, which says before what comes of it', async () => {
    await visit.open('/console/usage/events?status=rejected', 'Rejected events');
    await visit.find('link', 'wrong');
    await visit.inspect('rejected');
    await visit.tabTo('wrong');
    await press('Mend or dismiss it');
    await visit.arrive('Receipt of wrong');
    await visit.told('This event has no charge: ');
    // spec/beyond.md R584
    const receipt = await visit.text();
    for (const said of ['INVALID_DIMENSION', 'Processed']) expect(receipt).to.include(said);
    for (const said of ['Compute again', 'Rated']) expect(receipt).to.not.include(said);
    await visit.find('textbox', 'What it should have said, as JSON');
    await visit.inspect('rejected-receipt');
    await reason('The meter wrote words.');
    await visit.tabTo('What it should have said, as JSON');
    const said = String(await visit.page.evaluate('document.activeElement.value'));
    await visit.page.evaluate('document.activeElement.select()');
    await visit.page.keyboard.sendCharacter(said.replace('a lot', '300'));
    await press('What sending it again comes to');
    // 300 at 0.01.
    await visit.told('USD 3.00');
    expect(await visit.text()).to.not.include('It was amended.');
    await visit.inspect('rejected-tried');
    await press('Send it again');
    await visit.told('It was amended.');
    await visit.told('Charge of USD 3.00');
    await visit.find('button', 'Compute again');
    await visit.find('link', 'What the correction came to');
    await visit.inspect('rejected-mended');
  });

  // spec/beyond.md R427
  it('are dismissed, and are not among the rejected any more', async () => {
    await visit.open('/console/usage/events?status=rejected', 'Rejected events');
    await visit.click('link', 'test');
    await visit.arrive('Receipt of test');
    await visit.find('button', 'What dismissing it changes');
    await reason('Sent by a test.');
    await press('What dismissing it changes');
    await visit.told('No charge changes.');
    await press('Dismiss it');
    await visit.told('It is dismissed.');
    await visit.told('This event has no charge: Sent by a test.');
    expect(await visit.text()).to.not.include('dismiss it');
    await visit.inspect('rejected-dismissed');
    await visit.open(
      '/console/usage/events?status=rejected&code=INVALID_DIMENSION',
      'Rejected events',
    );
    // That of nobody.
    await visit.told('No event is rejected for INVALID_DIMENSION.');
    await visit.told('1 is still rejected for another reason.');
    await visit.inspect('rejected-for-another');
    await visit.click('link', 'Show all that are rejected');
    await visit.find('link', 'lost');
  });

  // spec/beyond.md R369
  it('are not tried all again where none would be rated, and are told of under another code', async () => {
    const calls = await story.service('Letters');
    const good = usage('later', calls);
    await story.send(good, usage('later', calls, { dimensions: { api_calls: 'a lot' } }));
    await visit.open(
      `/console/usage/events?status=rejected&code=ACCOUNT_NOT_FOUND&serviceId=${calls}`,
      'Rejected events',
    );
    await press('What trying all again comes to');
    await visit.told('None would be rated: mend them first.');
    expect(await visit.text()).to.not.include('Try all');
    await visit.inspect('rejected-vain');
    await story.account('later', { name: 'Later' });
    await press('What trying all again comes to');
    await visit.told('What those cost');
    // spec/beyond.md R583: not what the list has from before.
    await visit.told('Still rejected for INVALID_DIMENSION');
    expect(await visit.text()).to.not.include('None would be rated');
    await press('Try all 2 again');
    await visit.told('2 tried again: 1 rated, 1 still rejected.');
    await visit.told('1 is still rejected for another reason.');
    expect(await visit.text()).to.not.include('No event is rejected here.');
    await visit.inspect('rejected-tried-all');
  });

  // spec/beyond.md R582
  it('say after another try of one why it is still rejected', async () => {
    const mails = await story.service('Mails');
    const wrong = { externalTransactionId: 'moved', dimensions: { api_calls: 'a lot' } };
    await story.send(usage('mover', mails, wrong));
    await story.account('mover', { name: 'Mover' });
    await visit.open(
      `/console/usage/events?status=rejected&code=ACCOUNT_NOT_FOUND&serviceId=${mails}`,
      'Rejected events',
    );
    await press('Try again');
    await visit.told(
      "moved is still rejected for INVALID_DIMENSION: Dimension 'api_calls' must be",
    );
    expect(await visit.page.$$('p.bad[role=status]')).to.have.length(1);
    await visit.inspect('rejected-still');
  });

  // spec/beyond.md R490
  it('are dismissed all at once, by keyboard, which says before which those are', async () => {
    const calls = await story.service('Messages');
    await story.send(usage('nobody', calls), usage('nobody', calls));
    await visit.open(`/console/usage/events?status=rejected&serviceId=${calls}`, 'Rejected events');
    await visit.tabTo('Dismiss all 2');
    await visit.page.keyboard.press('Enter');
    await visit.tabTo('Reason, which is kept with each');
    await visit.page.keyboard.type('Sent by a test.');
    await press('What dismissing them changes');
    await visit.told('Rejected for ACCOUNT_NOT_FOUND');
    await visit.told('They are never billed');
    await visit.told('1 to 2 of 2');
    await visit.inspect('rejected-all-tried');
    const written: HTTPRequest[] = [];
    const note = (request: HTTPRequest) => written.push(request);
    visit.page.on('request', note);
    await press('Dismiss them');
    await visit.told('2 dismissed.');
    await visit.told('No event is rejected here.');
    visit.page.off('request', note);
    const sent = written.find((request) => request.url().endsWith('/usage-events/dismiss'));
    expect(sent?.headers()).to.have.property('idempotency-key');
    // Of what the preview has counted.
    const { until } = JSON.parse((await sent?.fetchPostData()) ?? '{}') as {
      readonly until?: string;
    };
    expect(Date.parse(until ?? '')).to.be.below(Date.now());
    await visit.find('link', 'Its execution');
    await visit.inspect('rejected-all-dismissed');
    await visit.click('link', 'Its execution');
    await visit.told('"dismissed": 2');
  });
});
