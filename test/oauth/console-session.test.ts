import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { buildConsole } from '../support/servers/console.js';
import { movedClock, cookieOf, cookiesOf, formOf, redirected } from '../support/http/oauth.js';
import { sendRaw, type RawAnswer } from '../support/http/raw.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const session = '/console/session';

describe('the console over HTTP', function () {
  this.timeout(120_000);
  const clock = movedClock();
  const lines: string[] = [];
  const instance = useInstance({
    isPublic: true,
    now: clock.now,
    logTo: { write: (line) => void lines.push(line) },
  });
  const tenant = useTenant(instance);
  before(buildConsole);

  const get = (path: string, headers: Record<string, string> = {}): Promise<RawAnswer> =>
    sendRaw(instance.url, { method: 'GET', path, headers });
  const form = (path: string, body: Record<string, string>, cookie: string): Promise<RawAnswer> =>
    sendRaw(instance.url, {
      method: 'POST',
      path,
      body: new URLSearchParams(body).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookie },
    });
  const ask = (method: string, headers: Record<string, string>): Promise<RawAnswer> =>
    sendRaw(instance.url, { method, path: session, headers });
  const ours = (cookie?: string): Record<string, string> => ({
    Origin: instance.url,
    ...(cookie === undefined ? {} : { Cookie: cookie }),
  });

  /** From the link to the return of the browser, whose cookies are given along. */
  async function decide(decision: 'allow' | 'deny', to = '/console/accounts?q=a') {
    const begun = await get(`/console/sign-in?${new URLSearchParams({ to }).toString()}`);
    expect(begun.status, begun.text).to.equal(302);
    const asked = await get(String(begun.headers.location));
    const browser = cookiesOf(asked).join('; ');
    const flowId = redirected(asked)['flow_id'] ?? '';
    const screen = await get(`/oauth/consent?flow_id=${flowId}`, { Cookie: browser });
    const decided = await form(
      '/oauth/consent',
      { ...formOf(screen.text), decision, credential: tenant.token },
      browser,
    );
    const back = new URL(String(decided.headers.location));
    return { begun, screen, back, cookie: cookieOf(begun) };
  }

  async function signIn(): Promise<string> {
    const { back, cookie } = await decide('allow');
    const signedIn = await get(back.pathname + back.search, { Cookie: cookie });
    expect(signedIn.status, signedIn.text).to.equal(303);
    return cookiesOf(signedIn).find((one) => one.includes('_session')) ?? '';
  }

  const tokenOf = (answer: RawAnswer): string =>
    (JSON.parse(answer.text) as { accessToken: string }).accessToken;
  const accounts = (token: string): Promise<RawAnswer> =>
    get('/api/v1/external/accounts', { Authorization: `Bearer ${token}` });

  // spec/beyond.md R360
  it('is one page at every address below /console, which runs nothing but its own files', async () => {
    for (const path of [
      '/console',
      '/console/',
      '/console/accounts/x',
      '/console/invoices/1/items/2',
    ]) {
      const { status, headers } = await get(path);
      expect(status, path).to.equal(200);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers['cache-control']).to.equal('no-cache');
      expect(headers['x-frame-options']).to.equal('DENY');
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).to.include.members([
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' blob:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ]);
      expect(policy.join(' ')).to.not.match(/unsafe|https?:|\*|data:/);
    }
    const { text } = await get('/console');
    expect(text).to.not.match(/<script>|<style>|style=| on\w+=/);
    const files = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path);
    const isOwn = (path: string) => path.startsWith('/console/assets/');
    expect(files.filter(isOwn)).to.not.be.empty;
    expect(files.filter((path) => !isOwn(path) && path !== '/docs')).to.deep.equal([]);
  });

  it('has files whose names say what they hold, kept for ever and compressed', async () => {
    const names = await readdir(new URL('../../dist/console/assets/', import.meta.url));
    expect(names.length).to.be.greaterThan(3);
    for (const name of names) {
      expect(name).to.match(/-[A-Z0-9]{8}\.(js|css|svg)$/);
      const path = `/console/assets/${name}`;
      const answer = await fetch(`${instance.url}${path}`);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get('cache-control')).to.equal('public, max-age=31536000, immutable');
      expect(answer.headers.get('content-encoding'), path).to.equal('gzip');
    }
    for (const name of ['console.js', 'nothing-ABCDEFGH.js', '..%2findex.html', 'a/b.js', '']) {
      expect((await get(`/console/assets/${name}`)).status, name).to.equal(404);
    }
  });

  // spec/beyond.md R361
  it('signs in by the authorization server, with PKCE and a state of this browser', async () => {
    const { begun, screen, back, cookie } = await decide('allow');
    const request = redirected(begun);
    const [, state = '', verifier = ''] = /=([\w-]{43})\.([\w-]{43})\./.exec(cookie) ?? [];
    expect(request).to.deep.include({
      response_type: 'code',
      redirect_uri: `${instance.url}/console/signed-in`,
      code_challenge_method: 'S256',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      state,
      scope: 'mcp:read mcp:write',
      resource: instance.url,
    });
    expect(String(begun.headers['set-cookie'])).to.match(
      /; Path=\/console\/signed-in; Max-Age=900; HttpOnly; SameSite=Lax$/,
    );
    expect(screen.text).to.include('Sign in to the console');
    expect(screen.text).to.not.include('chose this name itself');
    const signedIn = await get(back.pathname + back.search, { Cookie: cookie });
    expect(signedIn.status).to.equal(303);
    expect(signedIn.headers.location).to.equal('/console/accounts?q=a');
    const kept = String(signedIn.headers['set-cookie']);
    expect(kept).to.match(
      /_session_\d+=[\w-]{43}; Path=\/console\/session; Max-Age=2592000; HttpOnly; SameSite=Strict/,
    );
    expect(signedIn.text).to.equal('');
    const again = await get(back.pathname + back.search, { Cookie: cookie });
    expect(again.status, 'a code is good once').to.equal(400);
  });

  it('gives nobody a session who did not begin it, or did not allow it', async () => {
    const { back, cookie } = await decide('allow');
    const withState = (state: string): string => {
      const changed = new URL(back);
      changed.searchParams.set('state', state);
      return changed.pathname + changed.search;
    };
    for (const [path, given] of [
      [back.pathname + back.search, ''],
      [withState('A'.repeat(43)), cookie],
      [`${back.pathname}?code=x`, cookie],
      [
        (back.pathname + back.search).replace(/iss=[^&]*/, 'iss=https%3A%2F%2Felsewhere.example'),
        cookie,
      ],
    ] as const) {
      const refused = await get(path, given === '' ? {} : { Cookie: given });
      expect(refused.status, path).to.equal(403);
      expect(String(refused.headers['set-cookie'] ?? '')).to.not.include('_session');
      expect(refused.text).to.include('You are not signed in');
    }
    const denied = await decide('deny');
    const refused = await get(denied.back.pathname + denied.back.search, { Cookie: denied.cookie });
    expect(refused.status).to.equal(403);
  });

  it('leads nowhere but to its own pages', async () => {
    for (const to of [
      'https://elsewhere.example/',
      '//elsewhere.example/console',
      '/console/../docs',
      '/console\\..\\docs',
      '/consoleur',
      '/console/a\r\nSet-Cookie: a=b',
      `/console/${'a'.repeat(3_000)}`,
    ]) {
      const { back, cookie } = await decide('allow', to);
      const signedIn = await get(back.pathname + back.search, { Cookie: cookie });
      expect(signedIn.headers.location, to).to.equal('/console');
    }
  });

  // spec/beyond.md R362
  it('keeps the refresh token in a cookie and gives a page the access token', async () => {
    const cookie = await signIn();
    const answer = await ask('POST', ours(cookie));
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers['cache-control']).to.equal('no-store');
    const { accessToken, expiresInSeconds, ...person } = JSON.parse(answer.text);
    // No longer than the token that it was signed in with.
    expect(expiresInSeconds).to.be.within(3_000, 3_600);
    const { data } = (await tenant.get('/v1/oauth/grants?limit=1').expect(200)).body;
    expect(person).to.deep.equal({
      grantId: data[0].id,
      scopes: ['mcp:read', 'mcp:write'],
      tenantId: tenant.id,
      roles: ['ADMIN'],
      subject: 'tester',
    });
    expect(answer.text).to.not.include(cookie.split('=')[1]);
    expect((await accounts(accessToken)).status).to.equal(200);
    expect(cookieOf(answer)).to.not.equal(cookie);
    expect((await ask('POST', ours(cookieOf(answer)))).status).to.equal(200);
  });

  it('takes the cookie before once more for half a minute, as two tabs send it, and then never', async () => {
    const cookie = await signIn();
    const both = await Promise.all([ask('POST', ours(cookie)), ask('POST', ours(cookie))]);
    expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
    const [first] = both.map(tokenOf) as [string];
    clock.advance(31);
    const replayed = await ask('POST', ours(cookie));
    expect(replayed.status).to.equal(401);
    expect(String(replayed.headers['set-cookie'])).to.include('Max-Age=0');
    expect((await accounts(first)).status, 'all that came of it is revoked').to.equal(401);
    for (const answer of both) {
      expect((await ask('POST', ours(cookieOf(answer)))).status).to.equal(401);
    }
  });

  it('answers pages of this instance alone', async () => {
    const cookie = await signIn();
    const others: Record<string, string>[] = [
      {},
      { Origin: 'https://elsewhere.example' },
      { Origin: 'null' },
      { Origin: instance.url.replace(/\d+$/, '1') },
      { Origin: instance.url, 'Sec-Fetch-Site': 'same-site' },
      { Origin: instance.url, 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'none' },
    ];
    for (const headers of others) {
      for (const method of ['POST', 'DELETE']) {
        const refused = await ask(method, { ...headers, Cookie: cookie });
        expect(refused.status, JSON.stringify(headers)).to.equal(403);
        expect(refused.headers['set-cookie']).to.equal(undefined);
      }
    }
    expect((await ask('POST', ours())).status, 'without a cookie').to.equal(401);
    expect((await ask('GET', ours(cookie))).status).to.equal(405);
    expect((await ask('POST', ours(cookie))).status, 'nothing was spent').to.equal(200);
  });

  it('takes no refresh token of another client', async () => {
    const name = (await signIn()).split('=')[0] ?? '';
    const refused = await ask('POST', ours(`${name}=${'A'.repeat(43)}`));
    expect(refused.status).to.equal(401);
    expect((await ask('POST', ours(`${name}=short`))).status).to.equal(401);
  });

  // spec/beyond.md R363
  it('signs out: every token of the sign-in ends', async () => {
    const cookie = await signIn();
    const renewed = await ask('POST', ours(cookie));
    const token = tokenOf(renewed);
    expect((await accounts(token)).status).to.equal(200);
    const out = await ask('DELETE', ours(cookieOf(renewed)));
    expect(out.status).to.equal(204);
    expect(String(out.headers['set-cookie'])).to.match(/=; Path=\/console\/session; Max-Age=0;/);
    expect((await accounts(token)).status).to.equal(401);
    expect((await ask('POST', ours(cookieOf(renewed)))).status).to.equal(401);
    expect((await ask('DELETE', ours())).status, 'nobody is signed in').to.equal(204);
  });

  // spec/beyond.md R364
  it('leaves no token, code or secret in the log', async () => {
    const { back, cookie } = await decide('allow');
    const signedIn = await get(back.pathname + back.search, { Cookie: cookie });
    const kept = cookiesOf(signedIn).find((one) => one.includes('_session')) ?? '';
    const answer = await ask('POST', ours(kept));
    await ask('POST', ours(`${kept}x`));
    const log = lines.join('\n');
    const secrets = [
      tokenOf(answer),
      tenant.token,
      kept.split('=')[1] ?? '',
      back.searchParams.get('code') ?? '',
      cookie.split('.')[1] ?? '',
    ];
    for (const secret of secrets) {
      expect(secret).to.have.length.greaterThan(40);
      expect(log).to.not.include(secret);
    }
    expect(lines.length).to.be.greaterThan(0);
  });
});
