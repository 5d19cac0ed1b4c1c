import type { SecurityAction } from '../../kernel/security-event.js';
import { TenantModel } from '../db/tenant-model.js';

/** Names of tables and columns as the API has them. */
export const camelCaseSql = (sql: string): string =>
  `case when strpos(${sql}, '_') = 0 then ${sql} else
     left(${sql}, 1) || substr(replace(initcap(replace(${sql}, '_', ' ')), ' ', ''), 2) end`;

/** A stored row as an object of the API, without whose it is and what tells caches that it changed. */
export const auditStateSql = (column: string): string =>
  `(select jsonb_object_agg(${camelCaseSql('e.key')}, e.value) from jsonb_each(${column}) as e
    where e.key not in ('tenant_id', 'rating_version'))`;

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
