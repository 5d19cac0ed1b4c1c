import { keepPreviousData, queryOptions, type QueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { keeping, type Schemas } from '../api/client.ts';
import { digits } from '../api/digits.ts';
import { readAhead } from '../api/query-client.ts';
import { useList } from '../api/use-list.ts';
import { membersOf, textIn, type Keeping } from '../api/written-json.ts';
import { Page } from '../frame/page.tsx';
import { Changed } from './changes.tsx';
import type { Column } from '../shown/data-table.tsx';
import { Download } from '../shown/download.tsx';
import { Filters } from '../shown/filters.tsx';
import { Listed } from '../shown/listed.tsx';
import { RecordLink } from './record-link.tsx';
import { ActorName } from '../shown/names.tsx';
import { Instant, orNone } from '../shown/values.tsx';

const readAudit = keeping('before', 'after');
type Entry = Keeping<Schemas['AuditEntry'], 'before' | 'after'>;

interface AuditSearch {
  readonly entity?: string;
  readonly id?: string;
  readonly actor?: string;
  readonly from?: string;
  readonly to?: string;
  readonly page?: number;
}

const size = 25;

const auditList = ({ page = 0, entity, ...filters }: AuditSearch) => {
  const query = {
    ...filters,
    // What the API does not know it refuses, and says what it knows.
    ...(entity === undefined ? {} : { entity: entity as Entry['entity'] }),
    limit: digits(size),
    offset: digits(page * size),
  };
  return queryOptions({
    queryKey: ['audit', query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      readAudit((from) => from.GET('/v1/audit', { params: { query }, signal })),
  });
};

/** `walletGrant` as `wallet grant`. */
const wordsOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

/** What changes can be of: the types see to it that none is missing. */
const entities = {
  account: true,
  address: true,
  service: true,
  attribute: true,
  pricingLogic: true,
  rateCard: true,
  rateCardRow: true,
  contract: true,
  contractService: true,
  payment: true,
  wallet: true,
  walletGrant: true,
  walletHold: true,
  alert: true,
  adjustment: true,
  workflowDefinition: true,
  workflowVersion: true,
  approval: true,
  approvalDecision: true,
  invoice: true,
  invoiceItem: true,
  serviceLayout: true,
  recordType: true,
  record: true,
  webhook: true,
  taxRate: true,
  paymentApplication: true,
  toolCall: true,
  usageCorrection: true,
  usageEventChange: true,
  repricing: true,
  accessKey: true,
  accessToken: true,
  audit: true,
  oauthClient: true,
  oauthGrant: true,
  schedule: true,
  seller: true,
  signIn: true,
  signingKey: true,
  tenant: true,
} as const satisfies Readonly<Record<Entry['entity'], true>>;

const entityNames = [
  ['', 'Any'],
  ...Object.keys(entities)
    .map((entity) => [entity, wordsOf(entity)] as const)
    .toSorted(([, one], [, other]) => one.localeCompare(other)),
] as const;

/** By what people know records, the best first. */
const titles = ['name', 'title', 'invoiceNo', 'number', 'paymentReference', 'externalId', 'url'];

/** What a record is called, or was, where it has a name of its own. */
function titleOf({ after, before, entityKey }: Entry): string | null {
  const state = membersOf(after ?? before ?? { json: '{}' });
  const texts = titles.map((field) => textIn(state.get(field) ?? { json: '' }));
  return texts.find((text) => text !== undefined) ?? entityKey;
}

function What({ of }: { readonly of: Entry }): ReactNode {
  const title = titleOf(of);
  return (
    <>
      {wordsOf(of.entity)}
      {title === null ? null : (
        <>
          {' '}
          <bdi>{title}</bdi>
        </>
      )}
    </>
  );
}

/** What was changed, by the way to it where it has a page. */
function Record({ of }: { readonly of: Entry }): ReactNode {
  const { entity: type, entityId: id } = of;
  const what = <What of={of} />;
  return id === null ? (
    what
  ) : (
    <RecordLink of={{ type, id }} hasStory={false}>
      {what}
    </RecordLink>
  );
}

const columns: readonly Column<Entry>[] = [
  { name: 'At', show: ({ at }) => <Instant at={at} /> },
  { name: 'Who', show: ({ actor }) => <ActorName actor={actor} /> },
  { name: 'Did', show: ({ action }) => wordsOf(action) },
  { name: 'What', show: (entry) => <Record of={entry} /> },
  {
    name: 'All of it',
    show: ({ entity, entityId }) =>
      entityId === null ? (
        orNone(null)
      ) : (
        // Of each row it would be much to read ahead.
        <Link to="/audit" search={{ entity, id: entityId }} preload={false}>
          Its story
        </Link>
      ),
  },
  { name: 'Changed', show: ({ before, after }) => <Changed before={before} after={after} /> },
];

const route = getRouteApi('/audit');

/** What it reads first. */
export function ahead(client: QueryClient, search: AuditSearch): void {
  void readAhead(client, auditList(search));
}

/** Who changed what, and when. */
export function AuditPage(): ReactNode {
  const search = route.useSearch();
  const { entity = '', id = '', actor = '', from = '', to = '', page = 0 } = search;
  const navigate = route.useNavigate();
  const { query, onAhead } = useList((to) => auditList({ ...search, page: to }), page);
  const isFiltered = [entity, id, actor, from, to].some((text) => text !== '');
  return (
    <Page title="Audit">
      <Filters
        label="Which changes"
        fields={[
          { name: 'actor', label: 'Who', value: actor, hint: 'Name, or key:…' },
          { name: 'entity', label: 'What', value: entity, options: entityNames },
          { name: 'id', label: 'Its id', value: id },
          { name: 'from', label: 'From', value: from, type: 'date' },
          { name: 'to', label: 'Until', value: to, type: 'date' },
        ]}
        onApply={(texts) => void navigate({ search: texts })}
      />
      <Listed
        query={query}
        onAhead={onAhead}
        caption="Changes, the newest first"
        name="changes"
        columns={columns}
        keyOf={(entry) => entry.id}
        page={page}
        size={size}
        empty={<p>{isFiltered ? 'Nothing was changed like this.' : 'Nothing was changed yet.'}</p>}
        onMove={(to) => void navigate({ search: (before) => ({ ...before, page: to }) })}
      />
      <p>
        <Download path="/v1/exports/audit?format=csv" name="audit.csv">
          All of it as CSV
        </Download>
      </p>
    </Page>
  );
}
