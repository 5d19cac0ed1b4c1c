import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { UnsecuredJWT } from 'jose';
import {
  expectNotSignedIn,
  openProviderWorld,
  type ProviderWorld,
} from '../support/http/provider-sign-in.js';
import { unknownKey, type Forge } from '../support/servers/oidc-provider.js';

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

const evil = 'https://evil.example';

/** As [what the ID token has, how it is made, what the audit says of it]. */
const forgeries: readonly (readonly [string, Forge, string])[] = [
  ['another nonce', (claims, sign) => sign({ ...claims, nonce: 'a'.repeat(43) }), 'nonce'],
  ['no nonce', ({ nonce: _left, ...claims }, sign) => sign(claims), 'nonce'],
  ['another audience', (claims, sign) => sign({ ...claims, aud: 'somebody' }), 'aud'],
  [
    'several audiences, for another party',
    (claims, sign) => sign({ ...claims, aud: ['durabill', 'other'], azp: 'other' }),
    'azp',
  ],
  ['another issuer', (claims, sign) => sign({ ...claims, iss: evil }), 'iss'],
  ['an end in the past', (claims, sign) => sign({ ...claims, exp: inSeconds(-61) }), 'exp'],
  ['no end', ({ exp: _left, ...claims }, sign) => sign(claims), 'exp'],
  ['nobody', ({ sub: _left, ...claims }, sign) => sign(claims), 'sub'],
  [
    'a key that nobody knows',
    async (claims, sign) => sign(claims, await unknownKey()),
    'no applicable keys',
  ],
  ['no signature', (claims) => Promise.resolve(new UnsecuredJWT(claims).encode()), 'alg'],
  [
    'other claims under the old signature',
    async (claims, sign) => {
      const [head, , tail] = (await sign(claims)).split('.');
      const body = Buffer.from(JSON.stringify({ ...claims, sub: 'bob' })).toString('base64url');
      return [head, body, tail].join('.');
    },
    'signature',
  ],
];

describe('what is not the sign-in that was begun', function () {
  this.timeout(120_000);
  let world: ProviderWorld;
  before(async () => {
    world = await openProviderWorld();
  });
  after(() => world.close());
  beforeEach(() => {
    world.provider.forge = undefined;
    world.provider.asked.length = 0;
  });

  // spec/gateway.md R443
  for (const [name, forge, reason] of forgeries) {
    it(`is an ID token with ${name}; the audit says so`, async () => {
      const before = await world.countRows('oauthGrant');
      world.provider.forge = forge;
      const { answer } = await world.signIn();
      expectNotSignedIn(answer, 403, 'not the sign-in that was begun');
      expect(await world.countRows('oauthGrant')).to.equal(before);
      const { tenantId, action, actor, after: details } = await world.lastRefusal();
      expect({ tenantId, action, actor }).to.deep.equal({
        tenantId: '*',
        action: 'refuse',
        actor: null,
      });
      const { issuer } = world.provider;
      expect(details).to.include({ at: 'provider', issuer, clientId: world.clientId });
      expect(details.reason).to.include(reason);
    });
  }

  it('is no ID token of a clock that is a minute slow', async () => {
    world.provider.forge = (claims, sign) => sign({ ...claims, exp: inSeconds(-50) });
    await world.tokensOf(await world.signIn());
  });

  // spec/gateway.md R444
  it('is a state in any browser but its own, and the provider is asked for none', async () => {
    const { comeBack, arrive, provider } = world;
    const { back, cookie } = await comeBack();
    const other = (await world.leave()).cookie;
    const stranger = `__gateway_flow_secret=${randomBytes(32).toString('base64url')}`;
    const state = back.searchParams.get('state') ?? '';
    const [text = '', mac = ''] = state.split('.');
    const changed = (to: string | undefined): URL => {
      const url = new URL(back);
      if (to === undefined) url.searchParams.delete('state');
      else url.searchParams.set('state', to);
      return url;
    };
    const more = Buffer.from(
      Buffer.from(text, 'base64url').toString().replace('mcp:read mcp:write', 'mcp:admin'),
    ).toString('base64url');
    provider.asked.length = 0;
    for (const [url, given] of [
      [back, undefined],
      [back, other],
      [back, stranger],
      [changed(undefined), cookie],
      [changed(`${text}.${'A'.repeat(43)}`), cookie],
      [changed(`${more}.${mac}`), cookie],
      [changed(`${state}.x`), cookie],
      [changed(''), cookie],
    ] as const) {
      expectNotSignedIn(await arrive(url, given), 403, 'not begun in this browser');
    }
    expect(provider.asked).to.deep.equal([]);
    expect((await arrive(back, cookie)).status, 'nothing was spent').to.equal(303);
  });

  it('is an answer of another provider, which gets no code of ours', async () => {
    for (const iss of [evil, undefined]) {
      const { back, cookie } = await world.comeBack();
      world.provider.asked.length = 0;
      if (iss === undefined) back.searchParams.delete('iss');
      else back.searchParams.set('iss', iss);
      const answer = await world.arrive(back, cookie);
      expectNotSignedIn(answer, 403, 'not the sign-in that was begun');
      expect(world.provider.asked).to.deep.equal([]);
    }
  });

  it('is an answer that came before, and a code of an earlier one', async () => {
    const first = await world.signIn();
    expect(first.answer.status).to.equal(303);
    expectNotSignedIn(await world.arrive(first.back, first.cookie), 409, 'You have decided');
    const { back, cookie } = await world.comeBack();
    back.searchParams.set('code', first.back.searchParams.get('code') ?? '');
    expectNotSignedIn(await world.arrive(back, cookie), 403, 'used before');
  });

  it('is an answer that comes twice at once: one of them lets in', async () => {
    const { back, cookie } = await world.comeBack();
    const before = await world.countRows('oauthGrant');
    const answers = await Promise.all([1, 2, 3].map(() => world.arrive(back, cookie)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).to.equal(303);
    for (const status of statuses.slice(1)) expect(status).to.be.oneOf([403, 409]);
    expect(await world.countRows('oauthGrant')).to.equal(before + 1);
  });

  it('is what the provider said no to: the person may try again', async () => {
    const { address, cookie, flowId } = await world.leave();
    const no = new URLSearchParams({
      error: 'access_denied<script>',
      state: new URL(address).searchParams.get('state') ?? '',
      iss: world.provider.issuer,
    });
    const url = new URL(`${world.instance.url}/oauth/signed-in?${no.toString()}`);
    const answer = await world.arrive(url, cookie);
    expectNotSignedIn(answer, 403, 'did not sign you in');
    expect(answer.text).to.include(`/oauth/consent?flow_id=${flowId}`);
    expect(answer.text).to.not.include('script');
    expect((await world.lastRefusal()).after.reason).to.equal('access_deniedscript');
    expect((await world.steps.showConsent(flowId, cookie)).status).to.equal(200);
  });

  it('is a sign-in of 15 minutes ago', async () => {
    const { back, cookie } = await world.comeBack();
    world.clock.advance(15 * 60 + 1);
    expectNotSignedIn(await world.arrive(back, cookie), 400, 'expired');
  });
});
