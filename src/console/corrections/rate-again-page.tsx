import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { accountList, service } from '../accounts/queries.ts';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { Field, lackOfReason, Reason } from '../shown/field.tsx';
import { AccountName } from '../shown/names.tsx';
import { serviceChoice } from '../usage/queries.ts';
import { rerate } from './queries.ts';

/** What the address says; else until now, and the month before this one. */
function timeOf({ from, to }: { readonly from?: string; readonly to?: string }) {
  const now = new Date();
  const dayOf = (ofMonth: number, day: number): string =>
    new Date(Date.UTC(now.getUTCFullYear(), ofMonth, day)).toISOString().slice(0, 10);
  const month = now.getUTCMonth();
  const end = from === undefined ? dayOf(month, 1) : dayOf(month, now.getUTCDate() + 1);
  return { from: from ?? dayOf(month - 1, 1), to: to ?? end };
}

const route = getRouteApi('/usage/rate-again');

/** An account by what people know it by, with those that are meant to choose from. */
function ChooseAccount({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (account: string) => void;
}): ReactNode {
  const { data } = useQuery({ ...accountList({ q: value }), placeholderData: keepPreviousData });
  return (
    <label>
      <span>Account, by its id or number</span>
      <input
        name="accountId"
        list="accounts"
        value={value}
        maxLength={255}
        placeholder="All"
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id="accounts">
        {(data?.content ?? []).map(({ Id, Name, ExternalId, Number: number }) => (
          <option key={Id} value={ExternalId ?? number ?? Id}>
            {Name}
          </option>
        ))}
      </datalist>
    </label>
  );
}

function ChooseService({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (serviceId: string) => void;
}): ReactNode {
  const choice = useQuery(serviceChoice);
  const chosen = useQuery({ ...service(value), enabled: value !== '' });
  const services = new Map((choice.data ?? []).map(({ Id, Name }) => [Id, Name] as const));
  if (value !== '' && !services.has(value)) services.set(value, chosen.data?.name ?? value);
  return (
    <label>
      <span>Service</span>
      <select name="serviceId" value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">All</option>
        {[...services].map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which usage, and why; what comes of it is said before it is done. */
function Choose(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [{ from, to }, setTime] = useState(() => timeOf(search));
  const [account, setAccount] = useState('');
  const [serviceId, setService] = useState(search.service ?? '');
  const [reason, setReason] = useState('');
  const accountId = search.account ?? account.trim();
  return (
    <Section title="Which usage">
      {search.account === undefined ? null : (
        <p>
          Of <AccountName accountId={search.account} /> alone.{' '}
          <Link to="/usage/rate-again" search={({ account: _account, ...others }) => others}>
            Rate that of all accounts
          </Link>
        </p>
      )}
      <div className="fields">
        <Field
          name="from"
          label="Usage from"
          type="date"
          value={from}
          onChange={(day) => setTime({ from: day, to })}
        />
        <Field
          name="to"
          label="Before"
          type="date"
          value={to}
          onChange={(day) => setTime({ from, to: day })}
        />
        {search.account === undefined ? (
          <ChooseAccount value={account} onChange={setAccount} />
        ) : null}
        <ChooseService value={serviceId} onChange={setService} />
      </div>
      <Reason label="Reason, which the correction says" value={reason} onChange={setReason} />
      <Action
        operation="executeWorkflow"
        name="Show what would change"
        isPrimary
        lacks={lackOfReason(reason)}
        onDo={() =>
          rerate(
            {
              from,
              to,
              reason: reason.trim(),
              ...(accountId === '' ? {} : { accountId }),
              ...(serviceId === '' ? {} : { serviceId }),
            },
            true,
          )
        }
        onDone={({ executionId }) =>
          void navigate({ to: '/usage/rate-again/$executionId', params: { executionId } })
        }
      />
    </Section>
  );
}

/** A price, a contract or a formula was wrong, and is mended: what was rated by it is rated anew. */
export const RateAgainPage = (): ReactNode => (
  <Page
    title="Rate again"
    above={
      <Trail>
        {[
          <Link key="usage" to="/usage" search={{}}>
            Usage
          </Link>,
          <Link key="corrections" to="/usage/corrections" search={{}}>
            Corrections
          </Link>,
          'Rate again',
        ]}
      </Trail>
    }
  >
    <p>
      Usage of a time is rated with what is in force now: mend the price, the contract or the
      formula first. The dry run shows what would change. It writes nothing.
    </p>
    <Choose />
  </Page>
);
