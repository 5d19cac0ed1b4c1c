import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { accentOf } from '../embed/accent.ts';
import { languages } from '../embed/texts.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Filters, type FilterField } from '../shown/filters.tsx';
import { Fault } from '../shown/loaded.tsx';
import { account, makeEmbed } from './queries.ts';

const route = getRouteApi('/accounts/$accountId/embed');

interface Search {
  readonly language?: string;
  readonly theme?: string;
  readonly accent?: string;
  readonly page?: string;
}

const fieldsOf = ({ language, theme, accent, page }: Search): readonly FilterField[] => [
  {
    name: 'language',
    label: 'Language',
    value: language ?? '',
    options: [
      ['', 'As the browser has it'],
      ...Object.entries(languages).map(([code, { name }]) => [code, name] as const),
    ],
  },
  {
    name: 'theme',
    label: 'Colours',
    value: theme ?? '',
    options: [
      ['', 'As the system has it'],
      ['light', 'Light'],
      ['dark', 'Dark'],
    ],
  },
  { name: 'accent', label: 'Your colour', value: accent ?? '', hint: 'Such as 005533' },
  {
    name: 'page',
    label: 'First page',
    value: page ?? '',
    options: [
      ['', 'Usage'],
      ['invoices', 'Invoices'],
      ['receipts', 'Receipts'],
    ],
  },
];

/** The address of the embed as it was chosen, with a token. */
const addressOf = (search: Search, token: string): string =>
  `/embed#${new URLSearchParams({ token, ...search }).toString()}`;

const lines = (accountId: string, search: Search): string =>
  [
    'curl -X POST -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\',
    `  -d '{"accountId":"${accountId}","expiresInSeconds":900}' ${location.origin}/v1/embeds`,
    '',
    '<iframe title="Usage and invoices" width="100%" height="800"',
    `  src="${location.origin}${addressOf(search, 'TOKEN')}"></iframe>`,
  ].join('\n');

/** What a customer would see of an account in a page of the tenant's own, and how it gets there. */
export function TryEmbedPage(): ReactNode {
  const { accountId } = route.useParams();
  const search: Search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(account(accountId));
  const name = query.data?.Name ?? 'Account';
  const [data, setData] = useState<Schemas['Embed']>();
  return (
    <Page
      title="What the customer sees"
      above={
        <Trail>
          {[
            <Link key="accounts" to="/accounts" search={{}}>
              Accounts
            </Link>,
            <Link key="account" to="/accounts/$accountId" params={{ accountId }}>
              <bdi>{name}</bdi>
            </Link>,
            'What the customer sees',
          ]}
        </Trail>
      }
    >
      {query.error ? <Fault error={query.error} /> : null}
      <p>
        A page of your own shows usage, invoices and receipts of this account in a frame, and
        nothing else, to whoever has a token that your server makes for a visit.
      </p>
      <Filters
        label="How it looks"
        fields={fieldsOf(search)}
        isAtOnce
        onApply={(texts) => void navigate({ search: texts, replace: true })}
      />
      <p role="status" className="bad">
        {accentOf(search.accent ?? null) === undefined && search.accent !== undefined
          ? `“${search.accent}” is no colour, and ours is shown: write six digits such as 005533.`
          : ''}
      </p>
      <Action
        operation="createEmbed"
        name="Make a token of 15 minutes and show it"
        isPrimary
        onDo={() => makeEmbed(accountId)}
        onDone={setData}
      />
      {data === undefined ? null : (
        <iframe
          // Another address behind its # alone would not load it anew.
          key={JSON.stringify(search)}
          className="embed"
          title={`What ${name} sees`}
          src={addressOf(search, data.token)}
        />
      )}
      <Section title="How it gets into a page of yours">
        <p>
          Your server asks for a token, and writes it into the address behind <code>#</code>, which
          browsers send nowhere. <code>CORS_ORIGINS</code> names the origins whose pages may frame
          it.
        </p>
        <pre>{lines(accountId, search)}</pre>
      </Section>
    </Page>
  );
}
