import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { LinesOf } from '../accounts/contract-lines.tsx';
import { CardPrices } from '../accounts/line-prices.tsx';
import { leavesOf, membersOf, textIn } from '../api/written-json.ts';
import { Changes, Fields, Value, type Said } from '../audit/changes.tsx';
import { Section } from '../frame/page.tsx';
import { cardsOf } from '../prices/queries.ts';
import { Loaded } from '../shown/loaded.tsx';
import { AccountName } from '../shown/names.tsx';
import type { Approval } from './queries.ts';

/** What else an approval changes than the status; what is charged, none does. */
const follows: Readonly<Record<string, string>> = {
  service: ' From then on, a change of its prices makes a new version of its card.',
};

/** Its prices, card by card. */
function Prices({ serviceId }: { readonly serviceId: string }): ReactNode {
  const query = useQuery(cardsOf(serviceId));
  return (
    <Loaded query={query}>
      {({ content }) =>
        content.map((card) => (
          <CardPrices key={card.currency} card={card} source="of the catalog" />
        ))
      }
    </Loaded>
  );
}

/** What a record has beside its own fields, in words. */
function Parts({ of: { id, kind } }: { readonly of: Approval }): ReactNode {
  switch (kind) {
    case 'contract':
      return (
        <Section title="Its lines">
          <LinesOf contractId={id} name="The contract" />
        </Section>
      );
    case 'service':
      return (
        <Section title="Its prices">
          <Prices serviceId={id} />
        </Section>
      );
    default:
      return null;
  }
}

/** A value, and an account by its name. */
const shown = ([name, value]: Said): ReactNode => {
  const id = textIn(value);
  return id !== undefined && /accountId$/i.test(name) ? (
    <AccountName accountId={id} />
  ) : (
    <Value of={value} />
  );
};

/** Whether it says anything: of what waits the status is above. */
const isSaid = ([name, { json }]: Said): boolean =>
  name !== 'approvalStatus' && json !== '[]' && json !== '{}';

/** The fields of what is shown in words, too. */
const isOfParts = ([name]: Said): boolean => /^(services|rateCards) \//.test(name);

/** All of a record that never was approved. */
function Whole({ of: { after, kind } }: { readonly of: Approval }): ReactNode {
  const fields = after === null ? [] : [...leavesOf(after)].filter(isSaid);
  const ofParts = fields.filter(isOfParts);
  return (
    <>
      <p>
        It was never approved, and holds already: approving it changes its status, and nothing that
        is charged.{follows[kind]}
      </p>
      <Fields
        caption="What it says"
        of={fields.filter((field) => !isOfParts(field))}
        show={shown}
      />
      {ofParts.length === 0 ? null : (
        <details>
          <summary>Each field of its {kind === 'service' ? 'cards' : 'lines'}</summary>
          <Fields caption="As the API says them" of={ofParts} nameOf={(name) => name} />
        </details>
      )}
    </>
  );
}

/** What of a record waits for approval: what changed since the last one, or all of what never had one. */
export function OfRecord({ of }: { readonly of: Approval }): ReactNode {
  const { before, after } = of;
  // The status alone: it was never approved.
  const isFirst = before !== null && membersOf(before).size === 1;
  return (
    <>
      {isFirst ? <Whole of={of} /> : <Changes before={before} after={after} show={shown} />}
      <Parts of={of} />
    </>
  );
}
