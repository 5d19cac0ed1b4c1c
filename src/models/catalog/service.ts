import { Model } from 'objection';
import type * as schema from '../../schemas/catalog/service.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { Attribute } from './attribute.js';
import { PricingLogic } from './pricing-logic.js';
import { ApprovableRecord } from '../db/tenant-model.js';

interface Existing {
  existing(): { orderBy(columns: string[]): unknown };
}

export interface Service extends Columns<typeof schema.ServiceSummary> {}
/** A catalog product; its rate cards are the list price. */
export class Service extends ApprovableRecord {
  static override tableName = 'service';
  static override relationMappings = {
    attributes: {
      relation: Model.HasManyRelation,
      modelClass: Attribute,
      join: { from: 'service.id', to: 'attribute.serviceId' },
      modify: (builder: Existing) => builder.existing().orderBy(['position', 'id']),
    },
    pricingLogic: {
      relation: Model.HasManyRelation,
      modelClass: PricingLogic,
      join: { from: 'service.id', to: 'pricing_logic.serviceId' },
      modify: (builder: Existing) => builder.existing().orderBy(['seqNo', 'id']),
    },
  };

  declare approvedBy: string | null;
  declare approvedAt: Date | null;
  /** Raised by triggers with every change of what rating knows of it (docs/decisions/0243). */
  declare ratingVersion: string;
  declare attributes?: Attribute[];
  declare pricingLogic?: PricingLogic[];
}
