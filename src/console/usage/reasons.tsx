import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { quantityText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Code } from '../shown/values.tsx';
import { filterOf, rejections, type EventSearch } from './queries.ts';

type Reason = Schemas['UsageRejections']['reasons'][number];

const columnsOf = ({ page: _page, ...search }: EventSearch): readonly Column<Reason>[] => [
  {
    name: 'Reason',
    show: ({ code }) =>
      code === search.code ? (
        <>
          <Code of={code} />, shown below
        </>
      ) : (
        <Link to="/usage/events" search={{ ...search, code }}>
          <Code of={code} />
        </Link>
      ),
  },
  { name: 'Events', isNumber: true, show: ({ events }) => quantityText(events) },
];

/** Where the list has none: those of its code may be rejected for another reason by now. */
export function NoneRejected({ search }: { readonly search: EventSearch }): ReactNode {
  const { code = '' } = search;
  const counted = useQuery(rejections(search)).data?.counted ?? '0';
  if (code === '' || counted === '0') return <p>No event is rejected here.</p>;
  return (
    <>
      <p>
        No event is rejected for {code}.{' '}
        {counted === '1'
          ? '1 is still rejected for another reason.'
          : `${quantityText(counted)} are still rejected for other reasons.`}
      </p>
      <Link
        to="/usage/events"
        search={{ status: 'rejected', ...filterOf({ ...search, code: '' }) }}
      >
        Show all that are rejected
      </Link>
    </>
  );
}

/** Why events were rejected, and how many: what one mending helps is a press away. */
export function Reasons({ search }: { readonly search: EventSearch }): ReactNode {
  const query = useQuery(rejections(search));
  return (
    <Loaded query={query}>
      {({ counted, isComplete, reasons }) =>
        reasons.length === 0 ? null : (
          <>
            <DataTable
              caption="Rejected events by reason"
              columns={columnsOf(search)}
              rows={reasons}
              keyOf={({ code }) => code}
            />
            {isComplete ? null : <p>Of the newest {quantityText(counted)} alone.</p>}
          </>
        )
      }
    </Loaded>
  );
}
