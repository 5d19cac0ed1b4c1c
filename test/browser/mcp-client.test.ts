import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError as V1Unauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as V1Transport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect } from 'chai';
import type { Browser } from 'puppeteer-core';
import { createAccessKey } from '../../src/access/access-keys.js';
import { defined } from '../../src/kernel/defined.js';
import { openBrowser } from '../support/servers/browser.js';
import {
  external,
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../support/servers/instance.js';
import { movedClock, oauthSteps } from '../support/http/oauth.js';

interface Registered {
  client_id: string;
}
interface Tokens {
  access_token: string;
  token_type: string;
  refresh_token?: string;
}

/** What an application keeps for its MCP client: everything in memory, and a browser to send out. */
class Application {
  readonly redirectUrl: string;
  readonly clientMetadata;
  registered: Registered | undefined;
  saved: Tokens | undefined;
  verifier = '';
  discovered: v2.OAuthDiscoveryState | undefined;
  /** Where the user was sent, each time. */
  readonly sent: URL[] = [];

  constructor(redirectUrl: string, scope?: string) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = {
      client_name: 'Official client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...defined({ scope }),
    };
  }

  state = (): string => 'state-of-the-application';
  clientInformation = (): Registered | undefined => this.registered;
  saveClientInformation = (given: Registered): void => {
    this.registered = given;
  };
  tokens = (): Tokens | undefined => this.saved;
  saveTokens = (given: Tokens): void => {
    this.saved = given;
  };
  redirectToAuthorization = (url: URL): void => {
    this.sent.push(url);
  };
  saveCodeVerifier = (given: string): void => {
    this.verifier = given;
  };
  codeVerifier = (): string => this.verifier;
  saveDiscoveryState = (given: v2.OAuthDiscoveryState): void => {
    this.discovered = given;
  };
  discoveryState = (): v2.OAuthDiscoveryState | undefined => this.discovered;
}

interface Tool {
  readonly name: string;
}

/** What both clients can do, as far as this test asks. */
interface Connection {
  tools(): Promise<readonly Tool[]>;
  /** The text of the result. */
  call(name: string, given: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** A client of the one or the other package. */
interface Kind {
  readonly name: string;
  /** By which name of this machine it knows the server. */
  readonly host: string;
  /** Fails with `isUnauthorized` while there is no token. */
  connect(url: URL, application: Application): Promise<Connection>;
  /** Whether it asks its user for more; the older one refreshes, which cannot widen a grant. */
  readonly stepsUp: boolean;
  readonly isUnauthorized: (error: unknown) => boolean;
  finish(url: URL, application: Application, callback: URLSearchParams): Promise<void>;
}

const who = { name: 'test', version: '1.0.0' };
const textOf = (result: unknown): string =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

const kinds: readonly Kind[] = [
  {
    name: '@modelcontextprotocol/sdk',
    host: '127.0.0.1',
    async connect(url, authProvider) {
      const client = new V1Client(who);
      await client.connect(new V1Transport(url, { authProvider }));
      return {
        tools: async () => (await client.listTools()).tools,
        call: async (name, given) => textOf(await client.callTool({ name, arguments: given })),
        close: () => client.close(),
      };
    },
    stepsUp: false,
    isUnauthorized: (error) => error instanceof V1Unauthorized,
    finish: (url, authProvider, callback) =>
      new V1Transport(url, { authProvider }).finishAuth(callback.get('code') ?? ''),
  },
  {
    name: '@modelcontextprotocol/client',
    host: 'localhost',
    async connect(url, authProvider) {
      const client = new v2.Client(who, { versionNegotiation: { mode: 'auto' } });
      await client.connect(new v2.StreamableHTTPClientTransport(url, { authProvider }));
      return {
        tools: async () => (await client.listTools()).tools,
        call: async (name, given) => textOf(await client.callTool({ name, arguments: given })),
        close: () => client.close(),
      };
    },
    stepsUp: true,
    isUnauthorized: (error) => error instanceof v2.UnauthorizedError,
    finish: (url, authProvider, callback) =>
      new v2.StreamableHTTPClientTransport(url, { authProvider }).finishAuth(callback),
  },
];

describe('the official MCP clients', function () {
  // The browser is unpacked when it is first used.
  this.timeout(120_000);
  let instance: TestInstance;
  let tenant: TestTenant;
  let browser: Browser;
  let key: string;
  let redirectUrl: string;
  const clock = movedClock();
  const server = createServer((_request, response) => response.end('Back at the client.'));

  before(async () => {
    instance = await openTestInstance({
      withWorkers: true,
      isPublic: true,
      now: clock.now,
      // The clock is moved by hours.
      tokenSeconds: 86_400,
    });
    await oauthSteps(instance);
    tenant = await instance.tenant();
    key = await createAccessKey(instance.platform.database.platform, {
      tenantId: tenant.id,
      orgId: 'org',
      roles: ['ADMIN'],
      name: 'Ann',
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    browser = await openBrowser();
  });
  after(async () => {
    await browser.close();
    server.close();
    await instance.close();
  });

  /** The user: follows the link in Chromium, signs in and allows. Returns what the client is told. */
  const consent = async (link: URL): Promise<URLSearchParams> => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.goto(link.href);
    await page.type('#credential', key);
    await Promise.all([page.waitForNavigation(), page.click('button[value=allow]')]);
    const { searchParams } = new URL(page.url());
    await context.close();
    return searchParams;
  };

  for (const kind of kinds) {
    describe(`${kind.name} at ${kind.host}`, () => {
      let url: URL;
      before(() => {
        url = new URL('/mcp', instance.url);
        url.hostname = kind.host;
      });
      const connected = async (application: Application): Promise<Connection> => {
        const failure = await kind.connect(url, application).catch((error: unknown) => error);
        expect(kind.isUnauthorized(failure), String(failure)).to.equal(true);
        const link = application.sent.at(-1);
        if (!link) throw new Error('The user was sent nowhere.');
        const callback = await consent(link);
        expect(callback.get('state')).to.equal('state-of-the-application');
        await kind.finish(url, application, callback);
        return kind.connect(url, application);
      };

      // spec/gateway.md R25
      it('goes from a 401 to tool calls, and refreshes its token', async () => {
        const application = new Application(redirectUrl);
        const connection = await connected(application);
        const [link] = application.sent;
        expect(link?.pathname).to.equal('/api/oauth/per-user/authorize');
        expect(link?.searchParams.get('resource')).to.equal(url.href);
        expect(link?.searchParams.get('scope')).to.equal('mcp:read mcp:write');

        const names = (await connection.tools()).map(({ name }) => name);
        expect(names).to.include.members(['listAccounts', 'simulateUsage']);
        const body = {
          Company_Name: `Made by ${kind.name}`,
          First_Name: 'Ann',
          Last_Name: 'Miller',
          Line1: '1 Main Street',
          City: 'Springfield',
          State: 'IL',
          Zip_Code: '62701',
          Country: 'US',
          Currency: 'USD',
          ExternalId: kind.name,
        };
        const made = JSON.parse(await connection.call('runCreateAccount', { body }));
        const accountId = made.output.id as string;
        await tenant.get(`${external}/accounts/${accountId}`).expect(200);
        expect(await connection.call('listAccounts', {})).to.include(body.Company_Name);

        const first = application.saved;
        clock.advance(3_601);
        expect(await connection.call('getAccount', { accountId })).to.include(body.Company_Name);
        expect(application.saved?.access_token).to.not.equal(first?.access_token);
        expect(application.saved?.refresh_token).to.not.equal(first?.refresh_token);
        expect(application.sent, 'the user was asked once').to.have.length(1);
        await connection.close();
      });

      if (!kind.stepsUp) return;
      it('asks its user again when a write needs more than it was allowed', async () => {
        const application = new Application(redirectUrl);
        const connection = await connected(application);
        await connection.close();
        // What a user who was asked for less would have allowed.
        const { rows } = await instance.platform.database.platform.raw(
          `update oauth_grant set scopes = '{mcp:read}' where client_id = ? returning id`,
          [application.registered?.client_id ?? ''],
        );
        expect(rows).to.have.length(1);
        clock.advance(3_601);
        const reader = await kind.connect(url, application);
        expect(await reader.call('listAccounts', {})).to.include('"total":');
        const body = { id: '01939c6e-7a00-7000-8000-00000000dead' };
        const failure = await reader.call('runDeleteAccount', { body }).catch((error) => error);
        expect(kind.isUnauthorized(failure), String(failure)).to.equal(true);
        expect(application.sent).to.have.length(2);
        expect(application.sent[1]?.searchParams.get('scope')).to.equal('mcp:read mcp:write');
        await kind.finish(url, application, await consent(application.sent[1] as URL));
        expect(await reader.call('runDeleteAccount', { body })).to.include('NOT_FOUND');
        await reader.close();
      });
    });
  }
});
