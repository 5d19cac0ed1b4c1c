import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Strip } from '../charts/strip.tsx';
import { quantityText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { usageSummary } from './queries.ts';

/** What became of all events. */
export const Outcomes = (): ReactNode => {
  const query = useQuery(usageSummary);
  return (
    <Loaded query={query}>
      {({ accepted, rated, duplicate, rejected, canceled, pending }) =>
        accepted === '0' ? (
          <p>No event was accepted yet.</p>
        ) : (
          <>
            <p>
              {accepted === '1' ? '1 event was' : `${quantityText(accepted)} events were`} accepted
              in all. This became of them:
            </p>
            <Strip
              name="What became of all events"
              parts={[
                { name: 'Rated', count: rated, tone: 'good' },
                {
                  name: 'Rejected',
                  count: rejected,
                  tone: 'bad',
                  more:
                    rejected === '0' ? null : (
                      <Link to="/usage/events" search={{ status: 'rejected' }}>
                        Look at rejected events
                      </Link>
                    ),
                },
                { name: 'Duplicate', count: duplicate, tone: 'muted' },
                { name: 'Canceled', count: canceled, tone: 'muted' },
                { name: 'Pending', count: pending, tone: 'open' },
              ]}
            />
          </>
        )
      }
    </Loaded>
  );
};
