import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { account } from '../accounts/queries.ts';
import { ChargePair } from '../corrections/charge-pair.tsx';
import { Page, Trail } from '../frame/page.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import { Pager } from '../shown/pager.tsx';
import { trial, triedCharges, triedSize } from './queries.ts';

const route = getRouteApi('/prices/tried/$repricingId/accounts/$accountId');

/** What an account pays and would pay, charge by charge. */
export function TriedChargesPage(): ReactNode {
  const { repricingId, accountId } = route.useParams();
  const { first = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const tried = useQuery(trial(repricingId));
  const { data: of } = useQuery(account(accountId));
  const query = useQuery(triedCharges(repricingId, accountId, first));
  return (
    <Page
      title={`Charges of ${of?.Name ?? 'an account'}`}
      above={
        <Trail>
          {[
            <Link key="prices" to="/prices" search={{}}>
              Prices
            </Link>,
            <Link key="trial" to="/prices/tried/$repricingId" params={{ repricingId }} search={{}}>
              <bdi>{tried.data?.name ?? 'Prices that were tried'}</bdi>
            </Link>,
            <AccountName key="account" accountId={accountId} />,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {({ data, pagination, isSorted }) =>
          data.length === 0 ? (
            <Empty>
              <p>It has no charges in this time.</p>
            </Empty>
          ) : (
            <>
              <p>
                {isSorted
                  ? 'Those that would change the most come first.'
                  : 'They are too many to be sorted: they come as they were rated.'}
              </p>
              {data.map((charge, index) => (
                <ChargePair
                  key={`${charge.eventId} ${index}`}
                  of={charge}
                  names={['In the books', 'It would be']}
                />
              ))}
              <Pager
                name="charges"
                first={Number(pagination.offset)}
                shown={data.length}
                total={pagination.total}
                onMove={(by) =>
                  void navigate({
                    // The next page begins where this one, which may be shorter, ends.
                    search: {
                      first: Math.max(
                        0,
                        Number(pagination.offset) + (by > 0 ? data.length : -triedSize),
                      ),
                    },
                  })
                }
              />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
