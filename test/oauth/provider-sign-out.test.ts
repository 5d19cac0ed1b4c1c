import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'chai';
import { decodeJwt, UnsecuredJWT, type JWTPayload } from 'jose';
import { openProviderWorld, type ProviderWorld } from '../support/http/provider-sign-in.js';
import { sendRaw, type RawAnswer } from '../support/http/raw.js';
import { unknownKey } from '../support/servers/oidc-provider.js';

const event = 'http://schemas.openid.net/event/backchannel-logout';

/** What a provider says by itself: a sign-in is over (OpenID Connect Back-Channel Logout 1.0). */
describe('a sign-in that the provider ends', function () {
  this.timeout(120_000);
  let world: ProviderWorld;
  before(async () => {
    world = await openProviderWorld();
    world.provider.people.set('bob', {
      durabill_tenant: world.tenant.id,
      durabill_roles: ['READER'],
    });
  });
  after(() => world.close());

  const statusOf = async (token: string): Promise<number> => {
    const headers = { Authorization: `Bearer ${token}` };
    const path = '/api/v1/external/currencies?size=1';
    return (await sendRaw(world.instance.url, { method: 'GET', path, headers })).status;
  };
  const statusesOf = (tokens: readonly string[]) => Promise.all(tokens.map(statusOf));

  /** Signs in in a new session of the provider: the token, and which session it is. */
  async function signIn(login: string) {
    let sid = '';
    world.provider.forge = (claims, sign) => {
      sid = String(claims['sid']);
      return sign(claims);
    };
    const { access_token: token } = await world.tokensOf(await world.signIn(login));
    world.provider.forge = undefined;
    expect(sid).to.have.length.greaterThan(10);
    return { token, sid };
  }

  const send = (body: Record<string, string>): Promise<RawAnswer> =>
    sendRaw(world.instance.url, {
      method: 'POST',
      path: '/oauth/signed-out',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(body).toString(),
    });

  const claimsOf = (changes: JWTPayload = {}): JWTPayload => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: world.provider.issuer,
      aud: 'durabill',
      sub: 'ann',
      iat: now,
      exp: now + 120,
      jti: 'a',
      events: { [event]: {} },
      ...changes,
    };
  };

  // spec/gateway.md R449
  it('ends here at once, and no other one; the audit says so', async () => {
    const first = await signIn('ann');
    const second = await signIn('ann');
    const other = await signIn('bob');
    const tokens = [first.token, second.token, other.token];
    expect(await statusesOf(tokens)).to.deep.equal([200, 200, 200]);
    await world.provider.logOut('ann', first.sid);
    expect(await statusesOf(tokens)).to.deep.equal([401, 200, 200]);
    const { body } = await world.tenant.get('/v1/oauth/grants').expect(200);
    const ended = body.data.find(({ revokedAt }: { revokedAt: unknown }) => revokedAt !== null);
    expect(ended).to.include({
      subject: 'oidc:ann',
      revokedReason: 'its provider ended the sign-in',
    });
    const audit = await world.tenant.get('/v1/audit?entity=oauthGrant').expect(200);
    const [latest] = audit.body.data;
    expect(latest).to.include({ action: 'revoke', actor: 'oidc:ann', entityId: ended.id });
    await world.provider.logOut('ann', 'a session that nobody knows');
    await world.provider.logOut('bob', second.sid);
    expect(await statusesOf(tokens), 'of others').to.deep.equal([401, 200, 200]);
  });

  it('ends wherever the person signed in, where no session is named', async () => {
    const tokens: string[] = [];
    for (const login of ['ann', 'ann', 'bob']) tokens.push((await signIn(login)).token);
    const answer = await send({ logout_token: await world.provider.sign(claimsOf()) });
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers['cache-control']).to.equal('no-store');
    expect(await statusesOf(tokens)).to.deep.equal([401, 401, 200]);
  });

  it('ends with no token but one of the provider, for this client, of this purpose', async () => {
    const { token } = await signIn('ann');
    const { sign } = world.provider;
    const idToken = { ...claimsOf(), nonce: 'a' };
    const old = Math.floor(Date.now() / 1000) - 3_600;
    const forged = [
      await sign(claimsOf(), await unknownKey()),
      new UnsecuredJWT(claimsOf()).encode(),
      await sign(claimsOf({ iss: 'https://evil.example' })),
      await sign(claimsOf({ aud: 'somebody' })),
      await sign(claimsOf({ exp: old })),
      await sign(claimsOf({ iat: old })),
      await sign(claimsOf({ events: {} })),
      await sign(claimsOf({ events: undefined })),
      await sign(claimsOf({ sub: '' })),
      await sign(idToken),
      'nonsense',
    ];
    for (const logoutToken of forged) {
      const answer = await send({ logout_token: logoutToken });
      expect(answer.status, JSON.stringify(decoded(logoutToken))).to.equal(400);
      expect(JSON.parse(answer.text).error).to.equal('invalid_request');
    }
    expect((await send({})).status).to.equal(400);
    expect(await statusOf(token)).to.equal(200);
  });

  const decoded = (token: string): unknown => (token.includes('.') ? decodeJwt(token) : token);

  /** Keys that were read count for a second. */
  const untilKeysAreOld = () => wait(1_050);

  it('costs the provider one request for its keys in a second, whoever sends how much', async () => {
    await untilKeysAreOld();
    const { asked } = world.provider;
    asked.length = 0;
    const strange = await world.provider.sign(claimsOf(), await unknownKey());
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => send({ logout_token: strange })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(30).fill(400));
    expect(asked).to.deep.equal(['/jwks']);
  });

  it('is 503 while its keys cannot be read, so that it is sent again', async () => {
    await untilKeysAreOld();
    const logoutToken = await world.provider.sign(claimsOf());
    world.provider.intercept = (_request, response) => {
      response.writeHead(500).end();
      return true;
    };
    expect((await send({ logout_token: logoutToken })).status).to.equal(503);
    world.provider.intercept = undefined;
    expect((await send({ logout_token: logoutToken })).status).to.equal(200);
  });
});
