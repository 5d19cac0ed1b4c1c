import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/client.ts';
import { priceText } from '../prices/price-text.ts';
import { cardsOf } from '../prices/queries.ts';
import { quantityText } from '../shown/format.ts';
import { Loaded } from '../shown/loaded.tsx';
import { Adjustments } from './adjustments.tsx';
import { exceptionCardsOf } from './queries.ts';

type Line = Schemas['ContractServiceHeader'];
type Card = Schemas['RateCard'];

/** Rows that a card shows here: it may have thousands. */
const rowsShown = 20;

/** What a card charges, row by row. */
export const CardPrices = ({
  card,
  source,
}: {
  readonly card: Card;
  /** Whose it is. */
  readonly source: string;
}): ReactNode => {
  const { currency, versionNo, fromDate, rows } = card;
  return (
    <>
      <p>
        {currency}, {source}, version {quantityText(versionNo)} from {fromDate}:
      </p>
      <ul className="lines">
        {rows.slice(0, rowsShown).map((row) => (
          <li key={row.id}>
            <bdi>{row.label}</bdi>: {priceText(row, currency)}
          </li>
        ))}
      </ul>
      {rows.length <= rowsShown ? null : (
        <p>and {quantityText(String(rows.length - rowsShown))} more rows.</p>
      )}
    </>
  );
};

/** The prices that the line has itself; of other currencies those of the catalog hold. */
function Cards({ line }: { readonly line: Line }): ReactNode {
  const { serviceId, exceptionPricing } = line;
  const own = useQuery({ ...exceptionCardsOf(line), enabled: exceptionPricing });
  const listed = useQuery(cardsOf(serviceId));
  const isPriced = (cards: readonly Card[], { currency }: Card): boolean =>
    cards.some((card) => card.currency === currency);
  const shown = (exceptions: readonly Card[]): ReactNode => (
    <Loaded query={listed}>
      {({ content }) => (
        <>
          {exceptions.map((card) => (
            <CardPrices key={card.currency} card={card} source="of this line" />
          ))}
          {content
            .filter((card) => !isPriced(exceptions, card))
            .map((card) => (
              <CardPrices key={card.currency} card={card} source="of the catalog" />
            ))}
          <p>
            <Link to="/prices/$serviceId" params={{ serviceId }}>
              Prices of the service
            </Link>
          </p>
        </>
      )}
    </Loaded>
  );
  return exceptionPricing ? (
    <Loaded query={own}>{({ content }) => shown(content)}</Loaded>
  ) : (
    shown([])
  );
}

/** Asked for when it is opened: a list does not ask for each of its rows. */
export function LinePrices({ line }: { readonly line: Line }): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const { id, exceptionPricing, serviceInstanceId } = line;
  return (
    <details className="changed" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {exceptionPricing ? 'of this line' : 'of the catalog'}
        <span className="heard">, {serviceInstanceId ?? 'without an instance'}</span>
      </summary>
      {isOpen ? (
        <>
          <Cards line={line} />
          <Adjustments of={{ contractServiceId: id }} name="the line" />
        </>
      ) : null}
    </details>
  );
}
