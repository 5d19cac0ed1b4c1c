import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { ServiceName } from '../shown/names.tsx';
import { orNone } from '../shown/values.tsx';
import { contractsOf, linesOf } from './queries.ts';

type Line = Schemas['ContractServiceHeader'];

const columns: readonly Column<Line>[] = [
  { name: 'Service', show: ({ serviceId }) => <ServiceName serviceId={serviceId} /> },
  { name: 'Instance', show: ({ serviceInstanceId }) => orNone(serviceInstanceId) },
  { name: 'From', show: ({ startDate }) => orNone(startDate) },
  { name: 'To', show: ({ endDate }) => orNone(endDate) },
  { name: 'Ended on', show: ({ terminationDate }) => orNone(terminationDate) },
  { name: 'Billed', show: ({ billingFrequency }) => orNone(billingFrequency) },
  {
    name: 'Prices',
    show: ({ exceptionPricing }) => (exceptionPricing ? 'of this line' : 'of the catalog'),
  },
];

function Lines({ contractId, name }: { readonly contractId: string; name: string }): ReactNode {
  const query = useQuery(linesOf(contractId));
  return (
    <Loaded query={query}>
      {({ content }) => (
        <DataTable caption={name} columns={columns} rows={content} keyOf={({ id }) => id} />
      )}
    </Loaded>
  );
}

/** What an account has agreed to. */
export function ContractLines({ accountId }: { readonly accountId: string }): ReactNode {
  const query = useQuery(contractsOf(accountId));
  return (
    <Loaded query={query}>
      {({ content }) =>
        content.length === 0 ? (
          <Empty>
            <p>
              There is no contract with this account: its usage is priced by the cards of the
              catalog.
            </p>
          </Empty>
        ) : (
          content.map(({ Id, Number: number, Name, StartDate, EndDate }) => (
            <Lines
              key={Id}
              contractId={Id}
              name={`Contract ${[number, Name].filter(Boolean).join(', ')}, ${StartDate ?? '…'} to ${EndDate ?? '…'}`}
            />
          ))
        )
      }
    </Loaded>
  );
}
