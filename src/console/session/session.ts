/** Who is signed in, as the page shows it. */
export interface Person {
  /** The session of this browser, as it stands in the list of sessions. */
  readonly grantId: string;
  readonly tenantId: string;
  readonly subject: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
}

type Session =
  /** `ended`: of somebody who was signed in here and has not signed out. */
  | { readonly status: 'unknown' | 'away' | 'signedOut' | 'ended' }
  /** `other`: this browser has the session of somebody else since, whose this page is not. */
  | { readonly status: 'signedIn' | 'other'; readonly person: Person };

interface Renewed extends Person {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
}

const address = '/console/session';

let session: Session = { status: 'unknown' };
const listeners = new Set<() => void>();

/** The access token: in memory alone, and gone with the page. */
let accessToken: string | undefined;
let endsAt = 0;
/** Who was signed in first on this page: what it shows, and asks for, is theirs. */
let owner: string | undefined;
let renewing: Promise<void> | undefined;

/** Whose answers are the same: of one tenant, with one name and the same rights. */
const nameOf = ({ tenantId, subject, roles, scopes }: Person): string =>
  JSON.stringify([tenantId, subject, roles, scopes]);

function become(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

export const currentSession = (): Session => session;

export function listenToSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function askForToken(): Promise<void> {
  const response = await fetch(address, { method: 'POST' }).catch(() => undefined);
  if (response?.ok === true) {
    const { accessToken: token, expiresInSeconds, ...person } = (await response.json()) as Renewed;
    owner ??= nameOf(person);
    if (nameOf(person) !== owner) {
      accessToken = undefined;
      become({ status: 'other', person });
      return;
    }
    accessToken = token;
    // Renewed a minute ahead, so that no request comes too late.
    endsAt = performance.now() + (expiresInSeconds - 60) * 1000;
    become({ status: 'signedIn', person });
    return;
  }
  accessToken = undefined;
  if (response?.status !== 401) become({ status: 'away' });
  else if (owner === undefined || session.status === 'signedOut') become({ status: 'signedOut' });
  else become({ status: 'ended' });
}

/** Asks for a token, one tab after the other: each exchange gives the browser another cookie. */
export function renewSession(): Promise<void> {
  // Browsers have locks on pages that came over TLS, or from this machine.
  const locks = (navigator as { locks?: LockManager }).locks;
  renewing ??= Promise.resolve(
    locks ? locks.request('durabill console session', askForToken) : askForToken(),
  ).finally(() => (renewing = undefined));
  return renewing;
}

/** The token of whoever is signed in; undefined: nobody is. */
export async function currentToken(): Promise<string | undefined> {
  if (accessToken === undefined || performance.now() > endsAt) await renewSession();
  return accessToken;
}

/** Ends the session here and in every other tab of this browser, once each of them asks again. */
export async function signOut(): Promise<void> {
  await fetch(address, { method: 'DELETE' }).catch(() => undefined);
  accessToken = undefined;
  become({ status: 'signedOut' });
}

/** Where somebody signs in, to come back to the page that is open. */
export const signInAddress = (): string =>
  `/console/sign-in?${new URLSearchParams({ to: location.pathname + location.search }).toString()}`;
