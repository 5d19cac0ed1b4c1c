import type { Knex } from 'knex';
import { TenantModel } from '../db/tenant-model.js';

/** A request that may be repeated: its hash, and the execution that carries it out. */
export interface KeyedRequest {
  readonly key: string;
  /** Of the operation and its input. */
  readonly requestHash: string;
  readonly executionId: string;
  readonly workflowId: string;
}

/** The answer to a request; the text is null where the answer has no body. */
export interface KeptAnswer {
  readonly status: number;
  readonly text: string | null;
}

/** The keys under which callers repeat requests; kept for ever, because Temporal forgets. */
export class IdempotencyKey extends TenantModel {
  static override tableName = 'idempotency_key';
  static override idColumn = ['tenantId', 'key'];

  declare key: string;
  declare requestHash: string;
  /** Null, like the id of the workflow, of a request that starts none. */
  declare executionId: string | null;
  declare workflowId: string | null;
  /** Null of a request that starts a workflow. */
  declare status: number | null;
  declare answer: string | null;

  /** Claims a key for a request; returns the request that owns it, which may be an earlier one. */
  static async claim(db: Knex, tenantId: string, request: KeyedRequest): Promise<IdempotencyKey> {
    const { key, requestHash, executionId, workflowId } = request;
    await db.raw(
      `insert into idempotency_key (tenant_id, key, request_hash, execution_id, workflow_id)
       values (?, ?, ?, ?, ?) on conflict do nothing`,
      [tenantId, key, requestHash, executionId, workflowId],
    );
    return IdempotencyKey.findHolder(db, tenantId, key);
  }

  /**
   * Claims a key for a request without a workflow, in the request's transaction. False: another
   * request owns it. Waits for a transaction that is claiming the same key.
   */
  static async take(
    trx: Knex.Transaction,
    tenantId: string,
    key: string,
    requestHash: string,
  ): Promise<boolean> {
    const { rowCount } = await trx.raw<{ rowCount: number }>(
      `insert into idempotency_key (tenant_id, key, request_hash) values (?, ?, ?)
       on conflict do nothing`,
      [tenantId, key, requestHash],
    );
    return rowCount === 1;
  }

  /** The request that has a key. */
  static async findHolder(db: Knex, tenantId: string, key: string): Promise<IdempotencyKey> {
    return IdempotencyKey.query(db).forTenant(tenantId).findOne({ key }).throwIfNotFound();
  }

  /** Stores the answer to the request of a key. */
  static async keep(
    trx: Knex.Transaction,
    tenantId: string,
    key: string,
    { status, text }: KeptAnswer,
  ): Promise<void> {
    await IdempotencyKey.query(trx)
      .forTenant(tenantId)
      .where({ key })
      .patch({ status, answer: text });
  }
}
