import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { Section } from '../frame/page.tsx';
import { Action } from '../shown/action.tsx';
import { DataTable, type Column } from '../shown/data-table.tsx';
import { Field } from '../shown/field.tsx';
import { quantityText } from '../shown/format.ts';
import { None } from '../shown/values.tsx';
import { execute, workflowList } from '../workflows/queries.ts';
import { priceText } from './price-text.ts';
import { cardsOf, promote, versionsOf, type Repricing } from './queries.ts';

type Row = Schemas['RateCardRow'];
type Promoted = Schemas['Promoted'];

/** A card that was tried; its rows are as they were sent, with all that says what they cost. */
interface CardChange {
  readonly serviceId: string;
  readonly currency: string;
  readonly rows: readonly Row[];
}

const isOfCard = (change: unknown): change is CardChange =>
  typeof change === 'object' &&
  change !== null &&
  'kind' in change &&
  change.kind === 'rateCard' &&
  'rows' in change;

const isOfUsage = (change: unknown): boolean =>
  typeof change === 'object' && change !== null && 'kind' in change && change.kind === 'usage';

interface Compared {
  readonly label: string;
  readonly now: string;
  readonly then: string;
}

/** What rows of the same label cost now and then. */
function compare(now: readonly Row[], { rows, currency }: CardChange): Compared[] {
  const textOf = (of: readonly Row[], label: string): string =>
    of
      .filter((row) => row.label === label)
      .map((row) => priceText(row, currency))
      .join('; ');
  return [...new Set([...rows, ...now].map(({ label }) => label))].map((label) => ({
    label,
    now: textOf(now, label),
    then: textOf(rows, label),
  }));
}

const compared: readonly Column<Compared>[] = [
  { name: 'Row', show: ({ label }) => <bdi>{label}</bdi> },
  { name: 'Now', show: ({ now }) => now || <None /> },
  { name: 'Then', show: ({ then }) => then || <None /> },
];

/** The rows of a card as they are in force, and as they would be. */
function CardRows({ of }: { readonly of: CardChange }): ReactNode {
  const { data } = useQuery(cardsOf(of.serviceId));
  const now = data?.content.find(({ currency }) => currency === of.currency)?.rows;
  return now === undefined ? null : (
    <DataTable
      caption={`Prices in ${of.currency}, now and then`}
      columns={compared}
      rows={compare(now, of)}
      keyOf={({ label }) => label}
    />
  );
}

const kinds: Readonly<Record<string, string>> = {
  rateCard: 'the card',
  exceptionCard: 'the prices of a contract line',
};

const today = (): string => new Date().toISOString().slice(0, 10);

const dayAfter = (day: string): string =>
  new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);

/** Until when a version holds, where another one follows, and what it is the price of besides. */
function spanText({ toDate, nextVersionNo, isFirst }: Promoted['versions'][number]): string {
  const before = isFirst ? ' It is the earliest, so that it holds for all days before, too.' : '';
  if (toDate === null || nextVersionNo === null) return before;
  const stays = toDate < today() ? "; today's price stays" : '';
  return (
    ` It holds until ${toDate}, when version ${nextVersionNo} of ${dayAfter(toDate)} ` +
    `takes over${stays}.${before}`
  );
}

/** What is made of a change, in words. */
function versionText(of: Promoted['versions'][number]): string {
  const { kind, versionNo, currency, affectedEvents } = of;
  if (kind === 'pricingLogic') return 'The pricing logic, for all usage from now on.';
  if (kind === 'adjustment') {
    const until = of.toDate === null ? '' : `, until ${of.toDate}`;
    return `An adjustment beside the prices${until}.`;
  }
  const touched =
    affectedEvents === null || affectedEvents === '0'
      ? ''
      : ` It touches ${quantityText(affectedEvents)} events that were rated: they stay as they are until they are rated again.`;
  return `Version ${versionNo ?? ''} of ${kinds[kind] ?? kind} in ${currency ?? ''}.${spanText(of)}${touched}`;
}

const Made = ({ of }: { readonly of: Promoted }): ReactNode => (
  <>
    <p>
      {of.dryRun ? 'This would be made' : 'This was made'}, from {of.fromDate} on:
    </p>
    <ul>
      {of.versions.map((version, index) => (
        <li key={index}>{versionText(version)}</li>
      ))}
    </ul>
    {of.executionId === undefined ? null : (
      <p>
        <Link
          to="/workflows/$workflowId/executions/$executionId"
          params={{ workflowId: 'promote-repricing', executionId: of.executionId }}
        >
          Its execution
        </Link>
      </p>
    )}
  </>
);

/** A workflow of this name asks somebody else before it promotes: see examples/workflows. */
const asking = 'promote-prices';

/** Has somebody else decide, where a workflow for it is published. */
function AskFirst({ id, fromDate, force }: { id: string; fromDate: string; force: boolean }) {
  const navigate = useNavigate();
  const { data } = useQuery(workflowList);
  if (data === undefined) return null;
  if (!data.data.some(({ name }) => name === asking)) {
    return (
      <p className="muted">
        To have it approved by somebody else, publish <code>examples/workflows/{asking}.yaml</code>.
      </p>
    );
  }
  return (
    <Action
      operation="executeWorkflow"
      name="Ask somebody else to approve it"
      onDo={() => execute(asking, JSON.stringify({ repricingId: id, fromDate, force }))}
      onDone={({ executionId }) =>
        void navigate({
          to: '/workflows/$workflowId/executions/$executionId',
          params: { workflowId: asking, executionId },
        })
      }
    />
  );
}

/** What was rated by other prices since then stays so until it is rated again. */
const RateAgain = ({
  from,
  serviceIds,
}: {
  readonly from: string;
  readonly serviceIds: Repricing['serviceIds'];
}): ReactNode => {
  const [service, ...others] = serviceIds ?? [];
  if (from > today()) return null;
  const search = { from, ...(service === undefined || others.length > 0 ? {} : { service }) };
  return (
    <p>
      What was rated before that was done is as it was:{' '}
      <Link to="/usage/rate-again" search={search}>
        rate it again
      </Link>
      .
    </p>
  );
};

/** Until when the version of a card holds that began on a day; the newest twenty are looked through. */
function Holds({ of, fromDate }: { readonly of: CardChange; readonly fromDate: string }) {
  const { data } = useQuery(versionsOf(of.serviceId, of.currency, 0));
  const made = data?.content.find((version) => version.fromDate === fromDate);
  return (
    <p>
      {made === undefined
        ? ''
        : made.toDate === undefined
          ? `Version ${made.versionNo} in ${of.currency} holds from ${fromDate} on. `
          : `Version ${made.versionNo} in ${of.currency} holds until ${made.toDate}: another one follows. `}
      <Link to="/prices/$serviceId" params={{ serviceId: of.serviceId }}>
        All versions of the card
      </Link>
    </p>
  );
}

/** Puts it in force from a day on, once it was said what is made. */
export function Promote({ of }: { readonly of: Repricing }): ReactNode {
  const [fromDate, setFromDate] = useState('');
  const [force, setForce] = useState(false);
  const [made, setMade] = useState<Promoted>();
  const isBroken = of.guard?.passed === false;
  const lackOfForce = isBroken && !force ? 'Limits are not kept: confirm that first.' : undefined;
  const isSeen = made?.fromDate === fromDate && made.dryRun;
  if (of.promotedFrom !== null) {
    return (
      <>
        <p className="good">
          Put in force from {of.promotedFrom} on, by <bdi>{of.promotedBy}</bdi>
          {of.isForced ? ', although limits were not kept' : ''}.
        </p>
        {made === undefined ? null : <Made of={made} />}
        {of.changes.map((change, index) =>
          isOfCard(change) ? (
            <Holds key={index} of={change} fromDate={of.promotedFrom ?? ''} />
          ) : null,
        )}
        <RateAgain from={of.promotedFrom} serviceIds={of.serviceIds} />
      </>
    );
  }
  if (of.changes.length === 0 || of.changes.some(isOfUsage)) return null;
  return (
    <Section title="Put it in force">
      <p>Versions are made that begin on this day. Nothing is rated again by itself.</p>
      {of.changes.map((change, index) =>
        isOfCard(change) ? <CardRows key={index} of={change} /> : null,
      )}
      <div className="fields">
        <Field name="fromDate" label="From" type="date" value={fromDate} onChange={setFromDate} />
        {isBroken ? (
          <label className="check">
            <span>Although limits are not kept; the audit says so</span>
            <input
              name="force"
              type="checkbox"
              checked={force}
              onChange={({ target }) => setForce(target.checked)}
            />
          </label>
        ) : null}
      </div>
      <Action
        operation="promoteRepricing"
        name="Say what is made"
        lacks={fromDate === '' ? 'Choose the day first.' : lackOfForce}
        onDo={() => promote(of.id, { fromDate, force, dryRun: true })}
        onDone={setMade}
      />
      <div role="status">{isSeen ? <Made of={made} /> : null}</div>
      {isSeen ? (
        <>
          <Action
            operation="promoteRepricing"
            name="Put it in force"
            isPrimary
            lacks={lackOfForce}
            onDo={() => promote(of.id, { fromDate, force, dryRun: false })}
            onDone={setMade}
          />
          <AskFirst id={of.id} fromDate={fromDate} force={force} />
        </>
      ) : null}
    </Section>
  );
}
