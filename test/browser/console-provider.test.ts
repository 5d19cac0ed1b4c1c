import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { openProviderWorld, type ProviderWorld } from '../support/http/provider-sign-in.js';
import { openBrowser } from '../support/servers/browser.js';
import { buildConsole, visitConsole, type ConsoleVisit } from '../support/servers/console.js';

/** The console for people of an organization: its provider is another site than the instance. */
describe('signing in to the console at the provider of an organization', function () {
  this.timeout(240_000);
  let world: ProviderWorld;
  let browser: Browser;
  let visit: ConsoleVisit;
  let button: string;
  before(async () => {
    await buildConsole();
    world = await openProviderWorld();
    browser = await openBrowser();
    button = `Sign in with ${new URL(world.provider.issuer).host}`;
  });
  after(async () => {
    await browser.close();
    await world.close();
  });
  beforeEach(async () => {
    visit = await visitConsole(browser, world.instance);
  });
  afterEach(() => visit.close());

  /** From a page of the console to that of the provider. */
  async function leave(path = '/console/accounts'): Promise<void> {
    await visit.page.goto(`${world.instance.url}${path}`);
    await visit.click('link', 'Sign in');
    await visit.find('heading', 'Sign in to the console');
    await visit.click('button', button);
  }

  async function signInAs(login: string): Promise<void> {
    await visit.find('heading', 'Your organization');
    const field = await visit.page.waitForSelector('::-p-aria([name="Name"][role="textbox"])');
    await field?.type(login);
    await visit.click('button', 'Sign in');
  }

  // spec/gateway.md R440
  it('leads there and back to the page that was asked for, without a key', async () => {
    await leave('/console/invoices');
    await visit.find('heading', 'Your organization');
    expect(new URL(visit.page.url()).origin).to.equal(world.provider.issuer);
    await signInAs('ann');
    await visit.arrive('Invoices');
    expect(visit.page.url()).to.equal(`${world.instance.url}/console/invoices`);
    // A page that is loaded again is still signed in.
    await visit.open('/console/accounts', 'Accounts');
    await visit.page.click('details summary');
    await visit.told('oidc:ann');
    await visit.told(`OPERATOR in the tenant ${world.tenant.id}`);
    // Before anybody is signed in there is no session, which the browser notes.
    const unexpected = visit.complaints.filter((text) => !text.includes('401'));
    expect(unexpected).to.deep.equal([]);
    const { origin } = new URL(world.instance.url);
    const elsewhere = visit.requested.filter(
      (url) => !url.startsWith(origin) && !url.startsWith('data:'),
    );
    expect(elsewhere.every((url) => url.startsWith(world.provider.issuer))).to.equal(true);
  });

  it('shows a page that everybody can use, with the way to a key', async () => {
    await visit.page.goto(`${world.instance.url}/console/accounts`);
    await visit.click('link', 'Sign in');
    await visit.find('button', button);
    await visit.inspect('sign-in-provider');
    await visit.click('link', 'Use an access key instead');
    await visit.find('textbox', 'Your access key or token');
    await visit.inspect('sign-in-key');
    await visit.click('link', `${button} instead`);
    await visit.find('button', button);
  });

  // spec/gateway.md R445
  it('says who somebody is who has no role, and leads back', async () => {
    world.provider.people.set('guest', { durabill_tenant: world.tenant.id });
    await leave();
    await signInAs('guest');
    await visit.arrive('You are not signed in');
    await visit.told(`You are guest, but you have no role in the tenant '${world.tenant.id}'`);
    await visit.inspect('sign-in-no-role');
    await visit.click('link', 'Try again');
    await visit.find('button', button);
  });

  // spec/gateway.md R446
  it('says that the provider is away, and goes on from there when it is back', async () => {
    await leave();
    world.provider.intercept = ({ url }, response) => {
      if (url !== '/token') return false;
      response.writeHead(500).end();
      return true;
    };
    await signInAs('ann');
    await visit.arrive('You are not signed in');
    await visit.told('The sign-in of your organization does not answer.');
    await visit.inspect('sign-in-away');
    world.provider.intercept = undefined;
    await visit.click('link', 'Try again');
    // The provider knows this browser by now, and asks nothing.
    await visit.click('button', button);
    await visit.arrive('Accounts');
  });

  // spec/beyond.md R383
  it('lists who is signed in and with what, and ends one, which shows nothing more', async () => {
    world.provider.people.set('boss', {
      durabill_tenant: world.tenant.id,
      durabill_roles: ['ADMIN'],
    });
    const { id: tenantId } = world.tenant;
    await world.instance.platform.database.platform('oauthGrant').insert({
      id: '01939c6e-7a00-4000-8000-00000000cafe',
      tenantId,
      clientId: world.clientId,
      subject: 'oidc:gone',
      roles: ['READER'],
      scopes: ['mcp:read'],
      resource: 'x',
      createdAt: new Date(Date.now() - 2 * 86_400_000),
      // Kept for some days, so that a late replay is known as one.
      expiresAt: new Date(Date.now() - 86_400_000),
    });
    await leave();
    await signInAs('ann');
    await visit.arrive('Accounts');
    const anns = visit;
    visit = await visitConsole(browser, world.instance);
    await leave('/console/sessions');
    await signInAs('boss');
    await visit.arrive('Sessions');
    await visit.find('table', 'Sessions, the latest first');
    await visit.told('oidc:boss');
    await visit.told(new URL(world.provider.issuer).host);
    // What is over needs no button.
    await visit.told('oidc:gone');
    await visit.told('over');
    const text = await visit.text();
    expect(text).to.not.include('End session of oidc:gone');
    await visit.inspect('sessions-provider');
    const { body } = await world.tenant.get('/v1/oauth/grants?limit=2').expect(200);
    expect(body.data[1]).to.include({ subject: 'oidc:ann', revokedAt: null });
    const before = (await visit.text()).split('End session of oidc:ann').length;
    await visit.click('button', 'End session of oidc:ann');
    await visit.click('button', 'End session of oidc:ann now');
    await visit.page.waitForFunction(
      `document.body.innerText.split('End session of oidc:ann').length === ${before - 1}`,
    );
    await anns.click('link', 'Invoices');
    await anns.find('link', 'Sign in');
    await anns.close();
  });
});
