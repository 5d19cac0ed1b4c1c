import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page, Trail } from '../frame/page.tsx';
import { quantityText, sumsText } from '../shown/format.ts';
import { Empty, Loaded } from '../shown/loaded.tsx';
import { Pager } from '../shown/pager.tsx';
import { ActorName } from '../shown/names.tsx';
import { Facts, Instant, orNone } from '../shown/values.tsx';
import { ChargePair } from './charge-pair.tsx';
import { Figures } from './figures.tsx';
import { correctedCharges, correction, kindNames, size, type Correction } from './queries.ts';

const workflows: Readonly<Record<Correction['kind'], string>> = {
  cancel: 'cancel-usage-event',
  amend: 'amend-usage-event',
  rerate: 'rerate-usage',
};

/** What has corrected, step by step. */
const ExecutionLink = ({ of }: { readonly of: Correction }): ReactNode => (
  <Link
    to="/workflows/$workflowId/executions/$executionId"
    params={{ workflowId: workflows[of.kind], executionId: of.executionId }}
  >
    what it did
  </Link>
);

const route = getRouteApi('/usage/corrections/$correctionId');

function Charges({ correctionId }: { readonly correctionId: string }): ReactNode {
  const { first = 0 } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(correctedCharges(correctionId, first));
  return (
    <Loaded query={query}>
      {({ data, pagination }) =>
        data.length === 0 ? (
          <Empty>
            <p>No charge came out different.</p>
          </Empty>
        ) : (
          <>
            {data.map((charge, index) => (
              <ChargePair key={`${charge.eventId} ${index}`} of={charge} />
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
                    first: Math.max(0, Number(pagination.offset) + (by > 0 ? data.length : -size)),
                  },
                })
              }
            />
          </>
        )
      }
    </Loaded>
  );
}

/** What a correction has changed, down to the first step in which charges part. */
export function CorrectionPage(): ReactNode {
  const { correctionId } = route.useParams();
  const query = useQuery(correction(correctionId));
  const title = query.data?.reason ?? 'Correction';
  return (
    <Page
      title={title}
      above={
        <Trail>
          {[
            <Link key="usage" to="/usage" search={{}}>
              Usage
            </Link>,
            <Link key="corrections" to="/usage/corrections" search={{}}>
              Corrections
            </Link>,
            <bdi key="correction">{title}</bdi>,
          ]}
        </Trail>
      }
    >
      <Loaded query={query}>
        {(found) => (
          <>
            <Facts
              of={[
                ['Kind', kindNames[found.kind]],
                ['Events', quantityText(found.events)],
                ['Changed', quantityText(found.changed)],
                ['Before', orNone(sumsText(found.before))],
                ['After', orNone(sumsText(found.after))],
                ['By', <ActorName key="by" actor={found.actor} />],
                ['At', <Instant key="at" at={found.createdAt} />],
                ['Execution', <ExecutionLink key="execution" of={found} />],
              ]}
            />
            <Figures of={found} />
            <Charges correctionId={correctionId} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
