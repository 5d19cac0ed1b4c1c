import { useEffect, useSyncExternalStore, type ReactNode } from 'react';
import { isServerAway, listenToConnection, reportAway } from './connection.ts';
import {
  currentSession,
  listenToSession,
  renewSession,
  signInAddress,
  type Person,
} from './session.ts';

export const useSession = () => useSyncExternalStore(listenToSession, currentSession);

export const useIsAway = (): boolean => useSyncExternalStore(listenToConnection, isServerAway);

function SignInPage({ hasEnded }: { readonly hasEnded: boolean }): ReactNode {
  useEffect(() => {
    document.title = 'Sign in · Durabill console';
  }, []);
  return (
    <main className="alone" id="content">
      <h1>Durabill console</h1>
      {hasEnded ? (
        <p role="alert" className="fault">
          Your session has ended: somebody ended it, or its time was over. Sign in to go on with
          this page.
        </p>
      ) : null}
      <p>Accounts, invoices, the usage behind them, and why each charge is what it is.</p>
      <p>
        <a className="button primary" href={signInAddress()}>
          Sign in
        </a>
      </p>
      <p className="muted">You need an access key or a token of this instance.</p>
    </main>
  );
}

/** Loaded anew, a page has nothing of whoever was there before. */
const OtherPage = ({ of: { subject, tenantId } }: { readonly of: Person }): ReactNode => (
  <main className="alone" id="content">
    <h1>Durabill console</h1>
    <p role="alert" className="fault">
      <bdi>{subject}</bdi> of the tenant <bdi>{tenantId}</bdi> has signed in with this browser
      since. This page was not theirs: nothing more of it is shown or sent.
    </p>
    <p>
      <a className="button primary" href="/console">
        Go on in that tenant
      </a>
    </p>
  </main>
);

/** What only somebody who is signed in sees. */
export function SignedIn({ children }: { readonly children: ReactNode }): ReactNode {
  const session = useSession();
  const { status } = session;
  const isAway = useIsAway();
  useEffect(() => {
    if (status === 'unknown' || (status === 'away' && !isAway)) void renewSession();
  }, [status, isAway]);
  useEffect(() => {
    if (status === 'away') reportAway();
  }, [status]);
  if (session.status === 'other') return <OtherPage of={session.person} />;
  if (status === 'signedIn') return children;
  if (status === 'signedOut' || status === 'ended') {
    return <SignInPage hasEnded={status === 'ended'} />;
  }
  return (
    <main className="alone" id="content">
      <h1>Durabill console</h1>
      <p role="status">
        {status === 'away' ? 'The server does not answer. Trying again…' : 'Looking who you are…'}
      </p>
    </main>
  );
}
