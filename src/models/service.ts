import { Model, raw } from 'objection';
import type { Knex } from 'knex';
import { Attribute } from './attribute.js';
import { PricingLogic } from './pricing-logic.js';
import { RateCard } from './rate-card.js';
import { ApprovableRecord } from './tenant-model.js';

interface Existing {
  existing(): Ordered;
}
interface Ordered {
  orderBy(columns: string[]): Ordered;
  where(columns: object): Ordered;
}

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
    /** Every version of every currency that was not deleted. */
    rateCards: {
      relation: Model.HasManyRelation,
      modelClass: RateCard,
      join: { from: 'service.id', to: 'rate_card.serviceId' },
      modify: (builder: Existing) => builder.existing().orderBy(['currency', 'versionNo']),
    },
    currentRateCards: {
      relation: Model.HasManyRelation,
      modelClass: RateCard,
      join: { from: 'service.id', to: 'rate_card.serviceId' },
      modify: (builder: Existing) =>
        builder.existing().where({ isCurrent: true }).orderBy(['currency']),
    },
    pricingLogic: {
      relation: Model.HasManyRelation,
      modelClass: PricingLogic,
      join: { from: 'service.id', to: 'pricing_logic.serviceId' },
      modify: (builder: Existing) => builder.existing().orderBy(['seqNo', 'id']),
    },
  };

  declare name: string;
  declare label: string | null;
  declare code: string | null;
  declare description: string | null;
  declare currency: string | null;
  declare serviceType: string;
  declare serviceStatus: string;
  declare approvedBy: string | null;
  declare approvedAt: Date | null;
  declare chargeFrequency: string | null;
  declare billingFrequency: string | null;
  declare ratingVersion: string;
  declare attributes?: Attribute[];
  declare rateCards?: RateCard[];
  declare currentRateCards?: RateCard[];
  declare pricingLogic?: PricingLogic[];

  /**
   * Tells rating that something of these services changed: a caller of this holds the rows until
   * its transaction ends, so that a version never names two states.
   */
  static async raiseRatingVersion(
    trx: Knex.Transaction,
    tenantId: string,
    ids: readonly string[],
  ): Promise<void> {
    await Service.query(trx)
      .forTenant(tenantId)
      .whereIn('id', [...ids])
      .patch({ ratingVersion: raw('rating_version + 1') });
  }

  /**
   * Tells rating of the accounts that have an exception card whose rows price an attribute of this
   * service: replacing the attributes changed what those rows refer to.
   */
  static async raiseAccountsOfExceptionCards(
    trx: Knex.Transaction,
    tenantId: string,
    serviceId: string,
  ): Promise<void> {
    await trx.raw(
      `update account set rating_version = rating_version + 1
       where account.tenant_id = ? and account.id in (
         select contract.master_account_id
         from attribute
         join rate_card_row on rate_card_row.tenant_id = attribute.tenant_id
           and rate_card_row.attribute_id = attribute.id and rate_card_row.deleted_at is null
         join rate_card on rate_card.tenant_id = attribute.tenant_id
           and rate_card.id = rate_card_row.rate_card_id
         join contract_service line on line.tenant_id = attribute.tenant_id
           and line.id = rate_card.contract_service_id
         join contract on contract.tenant_id = line.tenant_id and contract.id = line.contract_id
         where attribute.tenant_id = ? and attribute.service_id = ?
       )`,
      [tenantId, tenantId, serviceId],
    );
  }
}
