import type { Knex } from 'knex';
import type { CredentialRef } from '../../kernel/scope.js';
import { sqlRows } from '../db/sql-rows.js';
import { BillingRecord, TenantModel } from '../db/tenant-model.js';

/** Definitions that a tenant may have, and versions of one. */
export const definitionsMax = 500;
export const versionsMax = 1_000;

/** A workflow that a tenant has defined. */
export class WorkflowDefinition extends BillingRecord {
  static override tableName = 'workflow_definition';

  declare name: string;
  /** The version that executions begin with. */
  declare version: number;

  /** Held until the transaction ends; undefined: there is none. */
  static async lock(
    trx: Knex.Transaction,
    tenantId: string,
    id: string,
  ): Promise<WorkflowDefinition | undefined> {
    return WorkflowDefinition.query(trx).forTenant(tenantId).existing().findById(id).forUpdate();
  }

  /** The names of these, by their ids; deleted ones have theirs. */
  static async names(
    db: Knex,
    tenantId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const rows = await WorkflowDefinition.query(db)
      .forTenant(tenantId)
      .findByIds([...ids])
      .select('id', 'name');
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Whether it is there: then it is not deleted until the transaction ends. */
  static async keep(trx: Knex, tenantId: string, id: string): Promise<boolean> {
    const query = WorkflowDefinition.query(trx).forTenant(tenantId).existing().findById(id);
    return (await query.select('id').forKeyShare()) !== undefined;
  }
}

/** What was published at one time; it never changes, but for what its publisher is signed in with. */
export class WorkflowVersion extends TenantModel {
  static override tableName = 'workflow_version';

  declare definitionId: string;
  declare version: number;
  /** JSON as it was sent. */
  declare definition: string;
  declare hash: string;
  declare publishedBy: string;
  declare roles: string[];
  /** What it was published with last; null: before that was kept. */
  declare credentialKind: CredentialRef['kind'] | null;
  declare credentialId: string | null;
  declare credentialKid: string | null;
  declare grantId: string | null;
  declare createdAt: Date;

  /** What its publisher signed in with; undefined: that is not known. */
  get credential(): CredentialRef | undefined {
    const { credentialKind: kind, credentialId: id, credentialKid: kid, grantId } = this;
    return kind === null || id === null ? undefined : { kind, id, kid, grantId };
  }
}

/** A secret by its name, sealed. */
export class WorkflowSecret extends TenantModel {
  static override tableName = 'workflow_secret';

  declare name: string;
  declare sealed: string;
  declare createdAt: Date;
  declare updatedAt: Date;

  /** All of a tenant's, held until the transaction ends. */
  static async held(trx: Knex, tenantId: string): Promise<WorkflowSecret[]> {
    return await WorkflowSecret.query(trx).forTenant(tenantId).orderBy('id').forUpdate();
  }

  /** Puts what is sealed anew in the place of what was. */
  static async putSealed(
    trx: Knex,
    tenantId: string,
    sealed: readonly { readonly id: string; readonly sealed: string }[],
  ): Promise<void> {
    if (sealed.length === 0) return;
    await sqlRows(
      trx,
      `update workflow_secret set sealed = input.sealed
       from unnest(?::uuid[], ?::text[]) as input (id, sealed)
       where workflow_secret.tenant_id = ? and workflow_secret.id = input.id`,
      [sealed.map(({ id }) => id), sealed.map((each) => each.sealed), tenantId],
    );
  }

  /** The names that there are. */
  static async names(db: Knex, tenantId: string): Promise<ReadonlySet<string>> {
    const rows = await WorkflowSecret.query(db).forTenant(tenantId).select('name');
    return new Set(rows.map(({ name }) => name));
  }
}
