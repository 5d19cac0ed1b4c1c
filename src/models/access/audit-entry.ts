import type { SecurityAction } from '../../kernel/security-event.js';
import { TenantModel } from '../db/tenant-model.js';

/** A change of a record, written by a trigger in the transaction of the change. */
export class AuditEntry extends TenantModel {
  static override tableName = 'audit';

  declare at: Date;
  declare actor: string | null;
  declare requestId: string | null;
  /** What the caller called its request. */
  declare callerRequestId: string | null;
  /** The name of the table. */
  declare entity: string;
  /** Null of a security event about something that has no UUID. */
  declare entityId: string | null;
  /** What a security event is about; null for records. */
  declare entityKey: string | null;
  declare action: SecurityAction;
}
