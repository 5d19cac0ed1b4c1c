import { expect } from 'chai';
import { usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

/** What was billed, and when more is; the end of a month is in stories/finance.test.ts. */
describe('billing in the console', function () {
  this.timeout(240_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let calls: string;

  before(async () => {
    await story.account('acme', { name: 'Acme & Söhne' });
    calls = await story.service('Calls');
    await story.send(usage('acme', calls));
  });
  useConsole(story, (opened) => {
    visit = opened;
  });

  it('says what to begin with where nothing was billed yet', async () => {
    await visit.open('/console/billing', 'Billing');
    await visit.told('Nothing was billed yet. Begin with a dry run of the last month.');
    await visit.inspect('billing-none');
  });

  it('lists runs, and says where nothing is left to be billed', async () => {
    await story.preview('2026-03');
    await story.bill('2026-03');
    await visit.open('/console/billing', 'Billing');
    await visit.find('table', 'Billing runs, the latest first');
    await visit.told('dry run');
    await visit.inspect('billing');
    // spec/beyond.md R596
    const kinds = async () => (await visit.text()).match(/\b(dry run|run)\tall accounts/g);
    expect(await kinds()).to.deep.equal(['run\tall accounts', 'dry run\tall accounts']);
    await visit.tabTo('Kind');
    await visit.page.keyboard.type('Runs');
    await visit.click('button', 'Show');
    await visit.page.waitForFunction(`!document.body.innerText.includes('dry run\\t')`);
    expect(await kinds()).to.deep.equal(['run\tall accounts']);
    expect(visit.page.url()).to.include('kind=run');
    await visit.open('/console/billing', 'Billing');
    await visit.tabTo('First day');
    await visit.page.keyboard.type('03012026');
    await visit.tabTo('Last day');
    await visit.page.keyboard.type('03312026');
    await visit.click('button', 'Show what would be billed');
    await visit.told('Nothing of this period is left to be billed.');
    await visit.inspect('billing-empty');
  });

  // spec/beyond.md R503
  it('says of a period that is not over that usage of it may still come', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const said = `This period ends on ${today}: usage of it may still come.`;
    await visit.open('/console/billing?from=2026-03-01&to=2026-03-31', 'Billing');
    await visit.find('button', 'Show what would be billed');
    expect(await visit.text()).to.not.include('may still come');
    await visit.open(`/console/billing?from=2026-03-01&to=${today}`, 'Billing');
    await visit.told(said);
    await visit.inspect('billing-not-over');
    // Usage of today, which no run has billed.
    await story.send(usage('acme', calls, { eventTimestamp: new Date().toISOString() }));
    await visit.click('button', 'Show what would be billed');
    await visit.arrive(`Dry run of 2026-03-01 to ${today}`);
    // Nothing is forbidden.
    await visit.find('button', 'Bill it');
    await visit.told(said);
    await visit.inspect('billing-dry-run-not-over');
  });

  // spec/beyond.md R540
  it('bills nothing that a dry run did not show: what has changed since is shown first', async () => {
    await story.account('late', { name: 'Late & Co.' });
    const april = (account: string) =>
      story.send(usage(account, calls, { eventTimestamp: '2026-04-05T10:00:00Z' }));
    const runs = async () =>
      (await story.tenant.get('/v1/billing-runs').expect(200)).body.data.filter(
        (run: { dryRun: boolean; periodStart: string }) =>
          !run.dryRun && run.periodStart === '2026-04-01',
      );
    await april('acme');
    await visit.open('/console/billing?from=2026-04-01&to=2026-04-30', 'Billing');
    await visit.click('button', 'Show what would be billed');
    await visit.arrive('Dry run of 2026-04-01 to 2026-04-30');
    await visit.find('button', 'Bill it');
    const old = visit.page.url();
    await visit.told('Before it is billed, another dry run looks whether it is still the same');
    await april('late');
    await visit.tabTo('Bill it');
    await visit.page.keyboard.press('Enter');
    await visit.find('table', 'What has changed since');
    await visit.told('Nothing was billed. Since the dry run of 2026-');
    await visit.find('table', 'Invoices that have changed, without tax');
    expect(await visit.text()).to.match(/Invoice, USD\s+1\s+2\s+USD/);
    expect(await visit.text()).to.match(/Late & Co\.\s+Invoice\s+–\s*\S*\s*USD 1\.00/);
    expect(await runs()).to.have.length(0);
    await visit.inspect('billing-changed');
    await visit.find('button', 'Bill it, whatever has changed');
    await visit.tabTo('Bill it');
    await visit.page.keyboard.press('Enter');
    await visit.arrive('Run of 2026-04-01 to 2026-04-30');
    await visit.find('table', 'What was billed');
    const [run, ...others] = await runs();
    expect(others).to.have.length(0);
    // The page that showed it before knows.
    await visit.page.goto(old);
    await visit.told('This was billed since by a run of 2026-04-01 to 2026-04-30');
    expect(await visit.text()).to.not.include('Bill it');
    await visit.inspect('billing-billed-since');
    await visit.click('link', 'a run of 2026-04-01 to 2026-04-30');
    await visit.arrive('Run of 2026-04-01 to 2026-04-30');
    expect(visit.page.url()).to.include(run.id);
  });

  it('names the one account that is billed, whose name may end with a full stop', async () => {
    const id = await story.account('inc', { name: 'Acme Inc.' });
    await visit.open(`/console/billing?accountId=${id}`, 'Billing');
    await visit.told('Of Acme Inc. alone. Bill all accounts');
  });

  // spec/beyond.md R467
  it('sets by keyboard when the tenant is billed by itself, pauses and removes it', async () => {
    const press = async (name: string) => {
      await visit.tabTo(name);
      await visit.page.keyboard.press('Enter');
    };
    await visit.open('/console/billing', 'Billing');
    await visit.told('Nothing is billed by itself: there is no schedule.');
    await press('Set a schedule of billing');
    await visit.tabTo('After each');
    await visit.page.keyboard.type('week');
    await visit.tabTo('At');
    await visit.page.keyboard.type('03');
    await visit.told('Every Monday at 03:00 UTC the week before is billed.');
    await press('Set the time of billing');
    await visit.told('It is set.');
    await visit.told('active');
    const listed = async () => (await story.tenant.get('/v1/schedules')).body.schedules;
    const [set] = await listed();
    expect(set).to.include({ job: 'billing', every: 'Weekly', hour: 3, paused: false });
    await visit.told(`${set.periodStart} to ${set.periodEnd}`);
    await visit.inspect('billing-schedules');
    await visit.open('/console/billing', 'Billing');
    await press('Pause billing');
    await visit.told('It is paused.');
    expect((await listed())[0]).to.include({ every: 'Weekly', hour: 3, paused: true });
    await visit.page.keyboard.press('Enter');
    await visit.told('It goes on.');
    await press('Remove the schedule of billing');
    await visit.told('It is removed.');
    expect(await listed()).to.deep.equal([]);
    await visit.inspect('billing-schedules-none');
  });

  // spec/beyond.md R466
  it('removes by keyboard a schedule that cannot be read, beside one that can', async () => {
    const { tenant, instance } = story;
    const { waiter, taskQueue } = instance.platform.temporal;
    await waiter.schedule.create({
      scheduleId: `billing/${tenant.id}`,
      spec: { calendars: [{ hour: [7, 8] }] },
      action: { type: 'startWorkflow', workflowType: 'scheduleBilling', taskQueue, args: [] },
      state: { paused: true },
    });
    await tenant.put('/v1/schedules/audit', { every: 'Weekly', hour: 4 }).expect(200);
    await visit.open('/console/billing', 'Billing');
    await visit.told('Every Monday at 04:00 UTC the week before is audited.');
    await visit.told('cannot be read: by it, something may be billed at any time.');
    await visit.inspect('billing-schedule-unreadable');
    await visit.tabTo('Remove the schedule of billing');
    await visit.page.keyboard.press('Enter');
    await visit.told('It is removed.');
    await visit.told('Nothing is billed by itself: there is no schedule.');
    await tenant.delete('/v1/schedules/audit').expect(204);
  });

  // spec/beyond.md R515
  it('says at its place what cannot be billed, by the names of the form, and what is not there', async () => {
    await visit.open('/console/billing', 'Billing');
    await visit.tabTo('Last day');
    await visit.page.keyboard.type('01012020');
    await visit.click('button', 'Show what would be billed');
    const now = new Date();
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)).toISOString();
    await visit.told(
      `“Last day” must not be before “First day”: '2020-01-01' is before '${first.slice(0, 10)}'`,
    );
    await visit.checkAccess();
    await visit.shoot('billing-wrong');
    await visit.open('/console/billing/00000000-0000-4000-8000-000000000000', 'Billing run');
    await visit.told('There is nothing here');
    await visit.checkAccess();
    visit.complaints.splice(0);
  });
});
