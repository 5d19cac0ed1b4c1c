import { BillingRecord } from '../db/tenant-model.js';

/** The estimation layout of a service. */
export class ServiceLayout extends BillingRecord {
  static override tableName = 'service_layout';

  declare serviceId: string;
  /** The JSON document, as it was sent. */
  declare document: string;
}
