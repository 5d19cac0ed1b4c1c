import { TenantModel } from '../db/tenant-model.js';

/** A row of one version of a rate card. Rows never change their price: they are replaced. */
export class RateCardRow extends TenantModel {
  static override tableName = 'rate_card_row';
  static override jsonAttributes = ['rates', 'attributeValues'];

  declare rateCardId: string;
  declare position: number;
  declare attributeId: string;
  /** Kept beside the id: rating goes by name, also when the attribute was replaced since. */
  declare attributeName: string;
  declare label: string;
  declare description: string | null;
  declare dynamicDescription: string | null;
  declare taxCode: string | null;
  declare usageType: string | null;
  declare billingAccountId: string | null;
  declare priceMethod: string;
  /** The rate fields of the price method, decimals as text: see `readStoredRates`. */
  declare rates: unknown;
  declare attributeValues: { readonly attributeName: string; readonly attributeValue: string }[];
  declare createdAt: Date;
  declare deletedAt: Date | null;
}
