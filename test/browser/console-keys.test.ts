import { expect } from 'chai';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** Who gets in with what: keys are made, used and revoked where people look. */
describe('access keys in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  useConsole(story, (opened) => {
    visit = opened;
  });

  const statusWith = async (key: string): Promise<number> => {
    const headers = { Authorization: `Bearer ${key}` };
    return (await fetch(`${story.instance.url}/v1/webhooks`, { headers })).status;
  };

  // spec/beyond.md R474
  it('makes a key by keyboard, shows it once, and revokes it', async () => {
    const { page } = visit;
    await visit.open('/console/accounts', 'Accounts');
    await visit.tabTo(story.tenant.id);
    await page.keyboard.press('Enter');
    await visit.tabTo('Access keys');
    await page.keyboard.press('Enter');
    await visit.arrive('Access keys');
    await visit.told('There is no key yet');
    await visit.inspect('keys-none');
    await visit.tabTo('What it is for');
    await page.keyboard.type('Reads for the warehouse');
    await visit.tabTo('Make it');
    // Two presses before anything is drawn make one key (spec/beyond.md R505).
    await page.evaluate('document.activeElement.click(); document.activeElement.click()');
    await visit.find('table', 'Access keys, the latest first');
    await visit.inspect('keys-made');
    const [key = ''] = /dbk_[0-9a-f]{16}_[\w-]{43}/.exec(await visit.text()) ?? [];
    expect(await statusWith(key)).to.equal(200);
    // spec/beyond.md R601: what it did stands there by its name.
    const { body: made } = await story.tenant
      .post('/v1/access-keys', { name: 'Sells at night', roles: ['OPERATOR'] })
      .expect(201);
    const headers = { Authorization: `Bearer ${made.key}`, 'Content-Type': 'application/json' };
    const account = { externalId: 'night', name: 'Night Ltd.', defaultCurrency: 'USD' };
    const sold = await fetch(`${story.instance.url}/api/v1/external/accounts`, {
      method: 'POST',
      headers,
      body: JSON.stringify(account),
    });
    expect(sold.status).to.equal(201);
    await visit.open('/console/audit?entity=account', 'Audit');
    await visit.told('Sells at night (key)');
    await visit.open('/console/access-keys', 'Access keys');
    await visit.find('table', 'Access keys, the latest first');
    const kept = (await page.evaluate(
      'JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }, history.state])',
    )) as string;
    expect(kept).to.not.include(key.slice(-43));
    await page.reload();
    await visit.find('table', 'Access keys, the latest first');
    const text = await visit.text();
    expect(text).to.include('Reads for the warehouse').and.include('tester').and.include('READER');
    expect(text).to.not.include(key.slice(-43));
    await visit.tabTo('Revoke Reads for the warehouse');
    await page.keyboard.press('Enter');
    await visit.told('It cannot be taken back.');
    await visit.inspect('keys-revoke');
    await visit.tabTo('Revoke Reads for the warehouse now');
    await page.keyboard.press('Enter');
    // spec/beyond.md R534
    const told = 'Reads for the warehouse is revoked.';
    await visit.told(told);
    expect(await page.evaluate('document.activeElement.textContent')).to.equal(told);
    await visit.inspect('keys');
    const { body } = await story.tenant.get('/v1/access-keys').expect(200);
    // Beside the one of the night.
    expect(body.data).to.have.length(2);
    expect(body.data[1]).to.include({ status: 'revoked', madeBy: 'tester' });
  });

  // spec/beyond.md R527
  it('says why a key cannot end earlier than now, or later than what it is made with', async () => {
    const { page } = visit;
    await visit.open('/console/access-keys', 'Access keys');
    await visit.tabTo('What it is for');
    await page.keyboard.type('Of another day');
    await visit.tabTo('Ends on, at 0:00 UTC');
    await page.keyboard.type('01012020');
    await visit.told('2020-01-01 has begun: a key that ends then is over at once.');
    await visit.inspect('keys-over');
    expect(
      await page.evaluate(
        `[...document.querySelectorAll('button')].find((one) => one.textContent === 'Make it').ariaDisabled`,
      ),
    ).to.equal('true');
    await visit.open('/console/access-keys', 'Access keys');
    await visit.tabTo('What it is for');
    await page.keyboard.type('Of another day');
    await visit.tabTo('Ends on, at 0:00 UTC');
    await page.keyboard.type('01012090');
    await visit.tabTo('Make it');
    await page.keyboard.press('Enter');
    await visit.told('What this key is made with ends at');
    // spec/beyond.md R577
    const text = await visit.text();
    expect(text).to.match(/ends at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: it can end no later\./);
    expect(text).to.include('An access key that ends later, or never, can make it.');
    expect(text).to.include('This is not allowed').and.not.include('You may not see this');
    await visit.inspect('keys-later');
    expect(visit.complaints.splice(0)).to.have.length(1);
  });

  it('says at its place why a key cannot be made', async () => {
    await visit.open('/console/access-keys', 'Access keys');
    await visit.tabTo('What it is for');
    await visit.page.keyboard.type('Of another organization');
    await visit.tabTo('Organization of its usage');
    await visit.page.keyboard.type('another');
    await visit.tabTo('Make it');
    await visit.page.keyboard.press('Enter');
    await visit.told("What this key is made with is of the organization 'org'.");
    await visit.checkAccess();
    await visit.shoot('keys-wrong');
    expect(visit.complaints.splice(0).every((text) => text.includes('403'))).to.equal(true);
  });
});
