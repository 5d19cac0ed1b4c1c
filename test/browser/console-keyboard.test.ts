import { expect } from 'chai';
import { meteredService, usage } from '../support/billing/usage.js';
import type { ConsoleVisit } from '../support/servers/console.js';
import { openReceiver, type Receiver } from '../support/servers/receiver.js';
import { useConsole } from '../support/servers/use-console.js';
import { useStory } from '../support/story/story.js';

const focusedText = 'document.activeElement.textContent';

/** Whether what has the focus shows that it has. */
const isFocusShown = `(({ activeElement: focused }) => focused !== document.body &&
  focused.matches(':focus-visible') && getComputedStyle(focused).outlineStyle !== 'none')(document)`;

/** Each reader's way through the console without a pointer; a customer's is in console-embed.test.ts. */
describe('the console by keyboard alone', function () {
  this.timeout(120_000);
  const story = useStory({ isPublic: true });
  let visit: ConsoleVisit;
  let receiver: Receiver;
  let calls: string;

  before(async () => {
    receiver = await openReceiver();
    await story.account('acme', { name: 'Acme & Söhne' });
    for (let count = 0; count < 24; count += 1) await story.account(`customer-${count}`);
    calls = await story.service('Calls', meteredService);
    // The first 1,000 are free, then 0.02 up to 10,000.
    await story.send(
      usage('acme', calls, {
        externalTransactionId: 'first',
        eventTimestamp: '2026-03-10T10:00:00Z',
        dimensions: { api_calls: '2000' },
      }),
    );
    await story.tenant
      .post('/v1/webhooks', {
        url: receiver.url,
        events: ['invoice.posted'],
        secret: 'a secret of some length',
      })
      .expect(201);
  });
  after(() => receiver.close());
  useConsole(story, (opened) => {
    visit = opened;
  });

  const press = async (name: string): Promise<void> => {
    await visit.tabTo(name);
    expect(await visit.page.evaluate(isFocusShown), `focus on ${name}`).to.equal(true);
    await visit.page.keyboard.press('Enter');
  };
  const type = async (name: string, text: string): Promise<void> => {
    await visit.tabTo(name);
    await visit.page.keyboard.type(text);
  };
  /** On another page, whose title has the focus. */
  const arrive = async (title: string): Promise<void> => {
    await visit.arrive(title);
    await visit.page.waitForFunction(`${focusedText} === ${JSON.stringify(title)}`);
  };
  const go = async (name: string, title = name): Promise<void> => {
    await press(name);
    await arrive(title);
  };
  const keepsFocus = async (name: string): Promise<void> => {
    await visit.quiet();
    expect(await visit.page.evaluate(focusedText)).to.equal(name);
  };

  // spec/beyond.md R370
  it('finance: from a dry run to the event behind an invoice', async () => {
    await go('Billing');
    await type('First day', '03012026');
    await type('Last day', '03312026');
    await press('Show what would be billed');
    await arrive('Dry run of 2026-03-01 to 2026-03-31');
    await visit.find('button', 'Bill it');
    await go('Bill it', 'Run of 2026-03-01 to 2026-03-31');
    await visit.find('link', 'Invoices of this run');
    await go('Invoices of this run', 'Invoices');
    await visit.find('link', 'INV-000001');
    await go('INV-000001', 'Invoice INV-000001');
    await visit.find('link', 'API calls');
    await go('API calls');
    await visit.find('link', 'first');
    await press('first');
    await visit.arrive('Receipt of first');
    await visit.find('button', 'Compute again');
    await press('Compute again');
    await visit.told('the same, to the last digit.');
    await keepsFocus('Compute again');
  });

  it('support: to an account, its next invoice and back', async () => {
    await go('Accounts');
    await visit.find('button', 'Next');
    await visit.tabTo('Next');
    await visit.page.keyboard.press('Enter');
    await visit.told('21 to 25 of 25');
    // There is no page behind this one.
    await keepsFocus('Next');
    await press('Previous');
    await visit.told('1 to 20 of 25');
    await keepsFocus('Previous');
    await visit.find('link', 'Acme & Söhne');
    await press('Acme & Söhne');
    await visit.arrive('Acme & Söhne');
    await visit.find('link', 'Next invoice');
    await press('Next invoice');
    await visit.arrive('Next invoice');
    await visit.page.goBack();
    await visit.arrive('Acme & Söhne');
    expect(await visit.page.evaluate('document.activeElement.tagName')).to.equal('H1');
  });

  it('pricing: a price that is tried on what was used', async () => {
    await go('Prices');
    await visit.find('link', 'Calls');
    await press('Calls');
    await visit.arrive('Calls');
    await visit.find('button', 'Run over this time');
    await type('Name of this try', 'As it is');
    await type('Usage from', '03012026');
    await type('Before', '04012026');
    await press('Run over this time');
    await visit.arrive('As it is');
    await visit.find('table', 'What the usage costs');
  });

  it('operator: a webhook, and what was sent to it', async () => {
    await go('Webhooks');
    await visit.find('link', receiver.url);
    await press(receiver.url);
    await visit.arrive(receiver.url);
    await visit.find('button', 'Send a test event');
    await press('Send a test event');
    await visit.told('It is pending.');
    await keepsFocus('Send a test event');
  });

  it('moves nothing for whoever asks for less motion', async () => {
    const { page } = visit;
    await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
    for (const path of ['accounts', 'usage', 'billing', 'prices']) {
      await page.goto(`${story.instance.url}/console/${path}`);
      await visit.quiet();
      const moving = `[...document.querySelectorAll('*')].filter((one) => {
        const { transitionDuration, animationName } = getComputedStyle(one);
        return transitionDuration !== '0s' || animationName !== 'none';
      }).length`;
      expect(await page.evaluate(moving), path).to.equal(0);
    }
    await page.emulateMediaFeatures([]);
  });
});
