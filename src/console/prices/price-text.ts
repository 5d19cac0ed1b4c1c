import type { Schemas } from '../api/client.ts';
import { moneyText, quantityText } from '../shown/format.ts';

type Row = Schemas['RateCardRow'];
type Tier = Schemas['RateCardRow_TIERED']['rateCardTiers'][number];

const tierText = ({ tierMaxVal, tierUnitRate, flatRate }: Tier, currency: string): string => {
  const until =
    tierMaxVal === null || tierMaxVal === undefined
      ? 'beyond'
      : `up to ${quantityText(tierMaxVal)}`;
  return `${until} ${moneyText(tierUnitRate, currency)}${flatRate === true ? ' once' : ' each'}`;
};

/** What a row of a card charges, in words. */
export function priceText(row: Row, currency: string): string {
  switch (row.priceMethod) {
    case 'FLAT_RATE':
      return `${moneyText(row.flatRate, currency)} once`;
    case 'QUANTITY':
      return `${moneyText(row.unitRate, currency)} each`;
    case 'AMOUNT':
      return `${quantityText(row.percentageRate)} %`;
    case 'PACKAGE':
      return `${moneyText(row.unitRate, currency)} for each ${quantityText(row.packageSize)}`;
    case 'NO_PRICE':
      return 'no price of its own';
    case 'TIERED':
      return row.rateCardTiers.map((tier) => tierText(tier, currency)).join('; ');
    case 'VOLUME':
      return `all of it ${row.rateCardTiers.map((tier) => tierText(tier, currency)).join('; ')}`;
  }
}
