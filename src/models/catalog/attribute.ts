import type { AttributeKind } from '../../rating/index.js';
import type * as schema from '../../schemas/catalog/attribute.js';
import type { Columns } from '../../schemas/fields/columns.js';
import { BillingRecord } from '../db/tenant-model.js';

/**
 * Whose attributes and rate cards they are: a catalog service's, or a contract line's own. It holds
 * the column to set and to filter by.
 */
export type CatalogOwner = { readonly serviceId: string } | { readonly contractServiceId: string };

export interface Attribute extends Columns<typeof schema.LineAttribute> {}
/** A dimension of a service or of a contract line. */
export class Attribute extends BillingRecord {
  static override tableName = 'attribute';
  static override jsonAttributes = ['dimValues'];

  declare serviceId: string | null;
  declare contractServiceId: string | null;
  declare kind: AttributeKind;
  declare position: number;
}
