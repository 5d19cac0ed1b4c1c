import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import {
  expectNotSignedIn,
  openProviderWorld,
  type ProviderWorld,
} from '../support/http/provider-sign-in.js';

const json = { 'Content-Type': 'application/json' };

/** As [what a provider does, how it answers]. */
const troubles: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  ['hangs', () => undefined],
  [
    'drips for ever',
    (response) => {
      response.writeHead(200, json);
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(drip));
    },
  ],
  ['answers garbage', (response) => response.writeHead(200, json).end('<html>')],
  [
    'answers 10 MiB',
    (response) => response.writeHead(200, json).end(`"${'a'.repeat(10 * 1024 * 1024)}"`),
  ],
  ['answers 500', (response) => response.writeHead(500).end()],
  ['leads elsewhere', (response) => response.writeHead(302, { Location: '/elsewhere' }).end()],
  ['hangs up', (response) => response.destroy()],
];

describe('a provider that is away', function () {
  this.timeout(120_000);
  let world: ProviderWorld;
  before(async () => {
    world = await openProviderWorld({ oidcBounds: { timeoutMs: 600 } });
  });
  after(() => world.close());
  beforeEach(() => {
    world.provider.intercept = undefined;
  });

  const answering = (answer: (response: ServerResponse) => void) => {
    world.provider.intercept = (_request: IncomingMessage, response: ServerResponse) => {
      answer(response);
      return true;
    };
  };

  /** Whoever begins is sent there again, without a restart, and gets in. */
  async function expectBack(): Promise<void> {
    world.provider.intercept = undefined;
    const until = performance.now() + 5_000;
    let { left } = await world.leave();
    while (left.status !== 303 && performance.now() < until) {
      await wait(100);
      ({ left } = await world.leave());
    }
    await world.tokensOf(await world.signIn());
  }

  // spec/gateway.md R446
  for (const [name, answer] of troubles) {
    it(`is said to be so where it ${name}, and is asked again when it is back`, async () => {
      const { back, cookie } = await world.comeBack();
      answering(answer);
      const begun = performance.now();
      const refused = await world.arrive(back, cookie);
      // Without its bounds some of them would take for ever.
      expect(performance.now() - begun).to.be.lessThan(20_000);
      expectNotSignedIn(refused, 503, 'does not answer');
      expect(refused.headers['retry-after']).to.equal('5');
      // What it said of itself counts no more: whoever begins is told at once, too.
      const { left } = await world.leave();
      expect(left.status).to.equal(503);
      expect(left.headers['retry-after']).to.equal('5');
      expect(left.text).to.include('does not answer');
      await expectBack();
    });
  }

  it('is asked by nobody for a second after it has not answered', async () => {
    const { back, cookie } = await world.comeBack();
    answering((response) => response.writeHead(500).end());
    await world.arrive(back, cookie);
    await world.leave();
    world.provider.asked.length = 0;
    for (let at = 0; at < 10; at += 1) expect((await world.leave()).left.status).to.equal(503);
    expect(world.provider.asked.length).to.be.at.most(1);
    await expectBack();
  });

  it('is one that calls itself otherwise, or has an address that is none', async () => {
    const { issuer } = world.provider;
    const right = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    };
    for (const wrong of [
      { ...right, issuer: 'https://evil.example' },
      { ...right, authorization_endpoint: 'javascript:alert(1)' },
      { ...right, token_endpoint: 'file:///etc/passwd' },
      { ...right, jwks_uri: undefined },
    ]) {
      const { back, cookie } = await world.comeBack();
      answering((response) => response.writeHead(200, json).end(JSON.stringify(wrong)));
      expectNotSignedIn(await world.arrive(back, cookie), 503, 'does not answer');
      expect((await world.leave()).left.status).to.equal(503);
      await expectBack();
    }
  });

  it('is none that has other keys since a moment', async () => {
    await world.tokensOf(await world.signIn());
    await world.provider.admit(world.instance.url);
    await world.tokensOf(await world.signIn());
  });
});
