import type { AttributeKind } from '../../rating/index.js';
import { BillingRecord } from '../db/tenant-model.js';

/**
 * Whose attributes and rate cards they are: a catalog service's, or a contract line's own. It holds
 * the column to set and to filter by.
 */
export type CatalogOwner = { readonly serviceId: string } | { readonly contractServiceId: string };

/** A value that an attribute offers. */
export interface DimensionValue {
  readonly label?: string | null;
  readonly value: string | number | boolean;
}

/** A dimension of a service or of a contract line. */
export class Attribute extends BillingRecord {
  static override tableName = 'attribute';
  static override jsonAttributes = ['dimValues'];

  declare serviceId: string | null;
  declare contractServiceId: string | null;
  declare kind: AttributeKind;
  declare position: number;
  declare name: string;
  declare label: string | null;
  declare dimensionDataType: string;
  declare isContractInput: boolean;
  declare isMeterDimension: boolean;
  declare isProration: boolean | null;
  declare meterResetFrequency: string | null;
  declare dimValues: DimensionValue[];
  /** The value on a contract line; null in the catalog. */
  declare dimensionValText: string | null;
}
