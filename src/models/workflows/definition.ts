import type { Knex } from 'knex';
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
}

/** What was published at one time; it never changes. */
export class WorkflowVersion extends TenantModel {
  static override tableName = 'workflow_version';

  declare definitionId: string;
  declare version: number;
  /** JSON as it was sent. */
  declare definition: string;
  declare hash: string;
  declare publishedBy: string;
  declare roles: string[];
  declare createdAt: Date;
}

/** A secret by its name, sealed. */
export class WorkflowSecret extends TenantModel {
  static override tableName = 'workflow_secret';

  declare name: string;
  declare sealed: string;
  declare createdAt: Date;
  declare updatedAt: Date;

  /** The names that there are. */
  static async names(db: Knex, tenantId: string): Promise<ReadonlySet<string>> {
    const rows = await WorkflowSecret.query(db).forTenant(tenantId).select('name');
    return new Set(rows.map(({ name }) => name));
  }
}
