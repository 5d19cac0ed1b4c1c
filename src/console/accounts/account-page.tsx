import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page, Section, Trail } from '../frame/page.tsx';
import { Loaded } from '../shown/loaded.tsx';
import { Facts, orNone, Status } from '../shown/values.tsx';
import { Adjustments } from './adjustments.tsx';
import { Alerts } from './alerts.tsx';
import { ContractLines } from './contract-lines.tsx';
import { Owed } from '../invoices/owed.tsx';
import { Payments } from './payments.tsx';
import { account } from './queries.ts';
import { Timeline } from './timeline.tsx';
import { WaitingOf } from '../billing/waiting.tsx';
import { Wallets } from './wallets.tsx';

/** Where there is more about it, and what is done for it. */
const WaysOn = ({ accountId }: { readonly accountId: string }): ReactNode => (
  <p>
    <Link to="/accounts/$accountId/next-invoice" params={{ accountId }}>
      Next invoice
    </Link>{' '}
    ·{' '}
    <Link to="/invoices" search={{ accountId }}>
      Invoices
    </Link>{' '}
    ·{' '}
    <Link to="/usage" search={{ account: accountId }}>
      Usage
    </Link>{' '}
    ·{' '}
    <Link to="/usage/events" search={{ accountId }}>
      Usage events
    </Link>{' '}
    ·{' '}
    <Link to="/usage/rate-again" search={{ account: accountId }}>
      Rate again
    </Link>{' '}
    ·{' '}
    <Link to="/accounts/$accountId/embed" params={{ accountId }} search={{}}>
      What the customer sees
    </Link>
  </p>
);

const route = getRouteApi('/accounts/$accountId');

/** All that there is about an account. */
export function AccountPage(): ReactNode {
  const { accountId } = route.useParams();
  const query = useQuery(account(accountId));
  const title = query.data?.Name ?? 'Account';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="accounts" to="/accounts" search={{}}>
              Accounts
            </Link>,
            <bdi key="account">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(found) => (
          <>
            <Facts
              of={[
                ['Number', orNone(found.Number)],
                ['External id', orNone(found.ExternalId)],
                ['Status', <Status key="status" name={found.Status__r?.Name} />],
                ['Approval', <Status key="approval" name={found.ApprovalStatus__r?.Name} />],
                ['Currency', orNone(found.DefaultCurrency__r?.Name)],
                ['Billed on day', orNone(found.BillingDay)],
                ['Pays within', orNone(found.NetTerm__r?.Name)],
                ['Owes', <Owed key="owes" accountId={found.Id} />],
              ]}
            />
            <WaysOn accountId={found.Id} />
            <WaitingOf accountId={found.Id} />
            <Section title="Contract lines">
              <ContractLines accountId={found.Id} />
              <Adjustments of={{ accountId: found.Id }} name="the account" />
            </Section>
            <Section title="Payments">
              <Payments accountId={found.Id} />
            </Section>
            <Section id="wallets" title="Wallets">
              <Wallets accountId={found.Id} />
            </Section>
            <Section id="alerts" title="Alerts">
              <Alerts accountId={found.Id} />
            </Section>
            <Section title="Time line">
              <Timeline accountId={found.Id} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
