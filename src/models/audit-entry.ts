import { TenantModel } from './tenant-model.js';

/** A change of a record, written by a trigger in the transaction of the change. */
export class AuditEntry extends TenantModel {
  static override tableName = 'audit';

  declare at: Date;
  declare actor: string | null;
  declare requestId: string | null;
  /** The name of the table. */
  declare entity: string;
  declare entityId: string;
  declare action: 'create' | 'update' | 'delete';
}
