import type { Knex } from 'knex';
import { TenantModel } from './tenant-model.js';

/** A request that a caller may repeat: what it was, and the execution that carries it out. */
export interface KeyedRequest {
  readonly key: string;
  /** Of the operation and its input. */
  readonly requestHash: string;
  readonly executionId: string;
  readonly workflowId: string;
}

/** The keys under which callers repeat requests; kept for ever, because Temporal forgets. */
export class IdempotencyKey extends TenantModel {
  static override tableName = 'idempotency_key';
  static override idColumn = ['tenantId', 'key'];

  declare key: string;
  declare requestHash: string;
  declare executionId: string;
  declare workflowId: string;

  /** Takes a key for a request; answers with the request that has it, which may be an earlier one. */
  static async claim(db: Knex, tenantId: string, request: KeyedRequest): Promise<KeyedRequest> {
    const { key, requestHash, executionId, workflowId } = request;
    await db.raw(
      `insert into idempotency_key (tenant_id, key, request_hash, execution_id, workflow_id)
       values (?, ?, ?, ?, ?) on conflict do nothing`,
      [tenantId, key, requestHash, executionId, workflowId],
    );
    return IdempotencyKey.query(db).forTenant(tenantId).findOne({ key }).throwIfNotFound();
  }
}
