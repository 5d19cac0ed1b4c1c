import { Link, Outlet } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { signOut } from '../session/session.ts';
import { SignedIn, useIsAway, useSession } from '../session/signed-in.tsx';
import { chooseTheme, chosenTheme, type Theme } from './theme.ts';

const places = [
  ['/accounts', 'Accounts'],
  ['/invoices', 'Invoices'],
  ['/billing', 'Billing'],
  ['/prices', 'Prices'],
  ['/usage', 'Usage'],
  ['/workflows', 'Workflows'],
  ['/approvals', 'Approvals'],
  ['/webhooks', 'Webhooks'],
  ['/audit', 'Audit'],
  ['/operations', 'Operations'],
] as const;

/** Of who gets in, and with what. */
const ownPlaces = [
  ['/sessions', 'Sessions'],
  ['/access-keys', 'Access keys'],
] as const;

const themes: readonly (readonly [Theme, string])[] = [
  ['system', 'As the system has it'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

function Person(): ReactNode {
  const session = useSession();
  const [theme, setTheme] = useState(chosenTheme);
  if (session.status !== 'signedIn') return null;
  const { tenantId, subject, roles, scopes } = session.person;
  return (
    <details className="person">
      <summary>{tenantId}</summary>
      <div className="card">
        <p>
          <strong>{subject}</strong>
          <br />
          <span className="muted">
            {roles.join(', ')} in the tenant {tenantId}
            {scopes.includes('mcp:write') ? '' : ', to look only'}
          </span>
        </p>
        <label>
          <span>Colours</span>
          <select
            value={theme}
            onChange={(event) => {
              const chosen = event.target.value as Theme;
              setTheme(chosen);
              chooseTheme(chosen);
            }}
          >
            {themes.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <ul>
          {ownPlaces.map(([to, name]) => (
            <li key={to}>
              <Link
                to={to}
                search={{}}
                // Else it stays open above the page that it led to.
                onClick={({ currentTarget }) =>
                  currentTarget.closest('details')?.removeAttribute('open')
                }
              >
                {name}
              </Link>
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </details>
  );
}

function Header(): ReactNode {
  return (
    <header className="bar">
      <Link to="/" className="brand">
        <img src={icon} alt="" width="24" height="24" />
        Durabill
      </Link>
      <nav aria-label="Console">
        <ul>
          {places.map(([to, name]) => (
            <li key={to}>
              <Link to={to}>{name}</Link>
            </li>
          ))}
        </ul>
      </nav>
      <Person />
    </header>
  );
}

/** The address of the picture is hashed: the page has it. */
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? '';

const Away = (): ReactNode => (
  <p role="status" className="away">
    {useIsAway() ? 'The server does not answer. This page goes on by itself once it does.' : ''}
  </p>
);

/** What surrounds every page. */
export const Frame = (): ReactNode => (
  <SignedIn>
    <a
      className="skip"
      href="#content"
      onClick={(event) => {
        event.preventDefault();
        document.getElementById('content')?.focus();
      }}
    >
      To the content
    </a>
    <Header />
    <Away />
    <main id="content" tabIndex={-1}>
      <Outlet />
    </main>
  </SignedIn>
);
