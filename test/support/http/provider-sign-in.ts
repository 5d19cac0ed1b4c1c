import { expect } from 'chai';
import { defined } from '../../../src/kernel/defined.js';
import { openTestInstance, type InstanceOptions, type TestTenant } from '../servers/instance.js';
import { openTestProvider, signInAtProvider } from '../servers/oidc-provider.js';
import {
  authorization,
  cookieOf,
  formOf,
  movedClock,
  oauthSteps,
  pkce,
  redirected,
  redirectUri,
} from './oauth.js';
import { sendRaw, type RawAnswer } from './raw.js';

/** An authorization request that was sent on to the provider. */
interface Way {
  /** The page at which the user decided. */
  readonly screen: RawAnswer;
  readonly left: RawAnswer;
  /** The address at the provider that the browser was sent to. */
  readonly address: string;
  readonly cookie: string;
  readonly verifier: string;
  readonly flowId: string;
}

/** An instance whose people sign in at a provider of a test, and the steps of a browser without scripts. */
export async function openProviderWorld(options: InstanceOptions = {}) {
  const provider = await openTestProvider();
  const clock = movedClock();
  const instance = await openTestInstance({
    isPublic: true,
    now: clock.now,
    oidc: provider.settings,
    ...options,
  });
  await provider.admit(instance.url);
  const tenant = await instance.tenant();
  const steps = await oauthSteps(instance);
  const clientId = await steps.client({ grant_types: ['authorization_code', 'refresh_token'] });
  provider.people.set('ann', {
    durabill_tenant: tenant.id,
    durabill_roles: ['OPERATOR', 'everybody'],
  });
  const db = () => instance.platform.database.platform;
  const get = (path: string, cookie?: string): Promise<RawAnswer> =>
    sendRaw(instance.url, { method: 'GET', path, headers: defined({ Cookie: cookie }) });

  /** From the authorization request to the provider. */
  async function leave(changes: Record<string, string> = {}): Promise<Way> {
    const { verifier, challenge } = pkce();
    const asked = await steps.authorize(authorization(clientId, { code_challenge: challenge }));
    const cookie = cookieOf(asked);
    const flowId = redirected(asked)['flow_id'] ?? '';
    const screen = await steps.showConsent(flowId, cookie);
    const form = { ...formOf(screen.text), decision: 'provider', ...changes };
    const left = await steps.decide(form, cookie);
    return { screen, left, cookie, verifier, flowId, address: String(left.headers.location) };
  }

  /** The same, and through the provider: where that sends the browser. */
  async function comeBack(login = 'ann', changes: Record<string, string> = {}) {
    const way = await leave(changes);
    return { ...way, back: await signInAtProvider(way.address, login) };
  }

  const arrive = ({ pathname, search }: URL, cookie?: string): Promise<RawAnswer> =>
    get(pathname + search, cookie);

  /** The whole way of somebody to the answer of this instance. */
  async function signIn(login?: string, changes?: Record<string, string>) {
    const way = await comeBack(login, changes);
    return { ...way, answer: await arrive(way.back, way.cookie) };
  }

  /** The tokens of a client that was let in. */
  async function tokensOf({ answer, verifier }: Awaited<ReturnType<typeof signIn>>) {
    expect(answer.status, answer.text).to.equal(303);
    const exchanged = await steps.token({
      grant_type: 'authorization_code',
      client_id: clientId,
      code: redirected(answer)['code'],
      code_verifier: verifier,
      redirect_uri: redirectUri,
    });
    expect(exchanged.status, exchanged.text).to.equal(200);
    return JSON.parse(exchanged.text) as { access_token: string; refresh_token: string };
  }

  return {
    provider,
    clock,
    instance,
    tenant,
    steps,
    clientId,
    leave,
    comeBack,
    arrive,
    signIn,
    tokensOf,
    async countRows(table: string): Promise<number> {
      const [counted] = await db()(table).count<{ count: string }[]>({ count: '*' });
      return Number(counted?.count);
    },
    /** The latest sign-in that was refused, of the audit of a tenant, or of none. */
    async lastRefusal(of?: TestTenant) {
      const audit = (of?.scope.db.read ?? db())('audit');
      const [row] = await audit.where({ entity: 'sign_in' }).orderBy('id', 'desc').limit(1);
      return row;
    },
    async close(): Promise<void> {
      await instance.close();
      await provider.close();
    },
  };
}

export type ProviderWorld = Awaited<ReturnType<typeof openProviderWorld>>;

/** A page that lets nobody in and leads nowhere. */
export function expectNotSignedIn(answer: RawAnswer, status: number, text: string): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers.location).to.equal(undefined);
  expect(answer.text).to.include('You are not signed in').and.include(text);
}
