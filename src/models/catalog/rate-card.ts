import { Model } from 'objection';
import { RateCardRow } from './rate-card-row.js';
import { BillingRecord } from '../db/tenant-model.js';

/** One version of the prices of a service, or of a contract line, in one currency. */
export class RateCard extends BillingRecord {
  static override tableName = 'rate_card';
  static override relationMappings = {
    rows: {
      relation: Model.HasManyRelation,
      modelClass: RateCardRow,
      join: { from: 'rate_card.id', to: 'rate_card_row.rateCardId' },
      modify: (builder: { existing(): { orderBy(column: string): void } }) =>
        builder.existing().orderBy('position'),
    },
  };

  declare serviceId: string | null;
  declare contractServiceId: string | null;
  declare currency: string;
  declare versionNo: number;
  declare isCurrent: boolean;
  declare fromDate: string;
  /** The last day of a superseded version, inclusive. */
  declare toDate: string | null;
  declare rows?: RateCardRow[];
}
