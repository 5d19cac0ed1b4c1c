import type { Knex } from 'knex';
import { TenantModel } from '../db/tenant-model.js';

/** The input of a flow that was called with draftMode, until the flow is completed. */
export class Draft extends TenantModel {
  static override tableName = 'draft';
  static override idColumn = ['tenantId', 'entity', 'entityId'];
  static override jsonAttributes = ['input'];

  declare entity: string;
  declare entityId: string;
  declare workflow: string;
  /** The start node as it was accepted. */
  declare input: Readonly<Record<string, unknown>>;

  /** Keeps the input beside its record; a later draft of the same record takes its place. */
  static async keep(
    trx: Knex,
    tenantId: string,
    draft: Pick<Draft, 'entity' | 'entityId' | 'workflow' | 'input'>,
  ): Promise<void> {
    await trx.raw(
      `insert into draft (tenant_id, entity, entity_id, workflow, input) values (?, ?, ?, ?, ?)
       on conflict (tenant_id, entity, entity_id) do update set input = draft.input || excluded.input`,
      [tenantId, draft.entity, draft.entityId, draft.workflow, JSON.stringify(draft.input)],
    );
  }

  /** Takes the draft of a record away, and returns it. */
  static async take(
    trx: Knex,
    tenantId: string,
    entity: string,
    entityId: string,
  ): Promise<Draft | undefined> {
    const [draft] = await Draft.query(trx)
      .forTenant(tenantId)
      .where({ entity, entityId })
      .delete()
      .returning('*');
    return draft;
  }
}
