import { Model } from 'objection';
import type { Knex } from 'knex';
import type * as schema from '../../schemas/contracts/contract-service.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { Attribute } from '../catalog/attribute.js';
import type { RateCard } from '../catalog/rate-card.js';
import { BillingRecord } from '../db/tenant-model.js';

interface Existing {
  existing(): { orderBy(columns: string[]): unknown };
}

export interface ContractService extends Columns<
  typeof schema.ContractServiceHeader,
  'exceptionPricing'
> {}
/** A line of a contract: a service, sold for a range of days, optionally with prices of its own. */
export class ContractService extends BillingRecord {
  static override tableName = 'contract_service';
  static override jsonAttributes = ['dimensionValues', 'accountMap'];
  static override relationMappings = {
    attributes: {
      relation: Model.HasManyRelation,
      modelClass: Attribute,
      join: { from: 'contract_service.id', to: 'attribute.contractServiceId' },
      modify: (builder: Existing) => builder.existing().orderBy(['position', 'id']),
    },
  };

  /** The first in the chain of replaced lines; null: this line itself. */
  declare lineageId: string | null;
  /** When its subscription charges fall due; null: the service's setting applies. */
  declare subscriptionChargeType: string | null;
  declare dimensionValues: object | null;
  declare accountMap: object | null;
  declare attributes?: Attribute[];
  /** Its exception cards; no column. */
  declare cards?: readonly RateCard[];
  /** Whether the line has an exception card: selected by `linesOf` alone. */
  declare exceptionPricing?: boolean;

  /**
   * Writes the values of a line's dimensions, by name, onto its attributes, and clears all others.
   */
  static async setDimensionTexts(
    trx: Knex.Transaction,
    tenantId: string,
    id: string,
    texts: Readonly<Record<string, string>>,
  ): Promise<void> {
    await trx.raw(
      `update attribute
       set dimension_val_text = ?::jsonb ->> attribute.name, updated_at = now()
       where tenant_id = ? and contract_service_id = ? and deleted_at is null
         and dimension_val_text is distinct from ?::jsonb ->> attribute.name`,
      [JSON.stringify(texts), tenantId, id, JSON.stringify(texts)],
    );
  }

  /** Sets the texts of these attributes of a line; null clears one, others stay unchanged. */
  static async addDimensionTexts(
    trx: Knex.Transaction,
    tenantId: string,
    id: string,
    texts: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    await trx.raw(
      `update attribute
       set dimension_val_text = ?::jsonb ->> attribute.name, updated_at = now()
       where tenant_id = ? and contract_service_id = ? and deleted_at is null
         and name in (select jsonb_object_keys(?::jsonb))
         and dimension_val_text is distinct from ?::jsonb ->> attribute.name`,
      [JSON.stringify(texts), tenantId, id, JSON.stringify(texts), JSON.stringify(texts)],
    );
  }

  /**
   * Gives lines copies of the attributes of their services, of all kinds (spec/resources.md R66),
   * in one statement however many lines there are.
   */
  static async copyCatalogAttributes(
    trx: Knex.Transaction,
    tenantId: string,
    ids: readonly string[],
  ): Promise<void> {
    await trx.raw(
      `insert into attribute (
         tenant_id, id, contract_service_id, kind, position, name, label, dimension_data_type,
         is_contract_input, is_meter_dimension, is_proration, meter_reset_frequency, aggregation,
         unique_dimension, dim_values)
       select line.tenant_id, gen_random_uuid(), line.id, kind, position, name, label,
         dimension_data_type, is_contract_input, is_meter_dimension, is_proration,
         meter_reset_frequency, aggregation, unique_dimension, dim_values
       from contract_service line
       join attribute on attribute.tenant_id = line.tenant_id
         and attribute.service_id = line.service_id and attribute.deleted_at is null
       where line.tenant_id = ? and line.id = any(?::uuid[])`,
      [tenantId, [...ids]],
    );
  }

  /**
   * Gives the copies that lines have of an attribute of their service its new name: the attribute,
   * the rows of their cards that price it, and its value. A line that has an attribute of that name
   * already stays as it is.
   */
  static async renameCopies(
    trx: Knex.Transaction,
    tenantId: string,
    { serviceId, kind, name }: Pick<Attribute, 'serviceId' | 'kind' | 'name'>,
    oldName: string,
  ): Promise<void> {
    await trx.raw(
      `with renamed as (
         update attribute set name = :name, updated_at = now()
         from contract_service as line
         where attribute.tenant_id = :tenantId and attribute.deleted_at is null
           and attribute.name = :oldName and attribute.kind = :kind
           and line.tenant_id = :tenantId and line.service_id = :serviceId
           and line.deleted_at is null and line.id = attribute.contract_service_id
           and not exists (
             select from attribute as other
             where other.tenant_id = :tenantId and other.deleted_at is null
               and other.contract_service_id = line.id and other.name = :name)
         returning attribute.id, line.id as line_id
       ), priced as (
         update rate_card_row set attribute_name = :name
         where tenant_id = :tenantId and deleted_at is null
           and attribute_id in (select id from renamed)
       )
       update contract_service
       set dimension_values = dimension_values - :oldName::text
         || jsonb_build_object(:name::text, dimension_values -> :oldName::text), updated_at = now()
       where tenant_id = :tenantId and id in (select line_id from renamed)
         and jsonb_exists(dimension_values, :oldName)`,
      { tenantId, serviceId, kind, name, oldName },
    );
  }
}
