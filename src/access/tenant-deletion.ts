import type { Knex } from 'knex';
import type { TenantDatabase } from '../kernel/scope.js';
import { recordSecurityEvent } from './security-events.js';
import { findLegalHold } from '../models/access/legal-hold.js';
import { sqlRows } from '../models/db/sql-rows.js';
import { problem } from '../kernel/problem.js';

/** The audit and its chain are append-only; they also record the deletion of the tenant. */
const keptTables = ['audit', 'audit_cut', 'audit_redaction', 'audit_seal'];

/** Tables of tenants with those that they refer to. */
interface Table {
  readonly name: string;
  readonly references: readonly string[];
}

async function readTables(trx: Knex): Promise<Table[]> {
  const rows = await sqlRows<Table>(
    trx,
    `select tables.relname as name, array(
       select target.relname::text from pg_constraint join pg_class as target
         on target.oid = pg_constraint.confrelid
       where conrelid = tables.oid and contype = 'f' and confrelid <> conrelid
     ) as "references"
     from pg_class as tables
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
       and relname <> all (?::text[])
       and exists (select 1 from pg_attribute
         where attrelid = tables.oid and attname = 'tenant_id' and not attisdropped)
     order by relname`,
    [keptTables],
  );
  return rows;
}

/** Orders tables for deletion: referencing tables before the referenced ones. */
function inOrder(tables: readonly Table[]): string[] {
  const ordered: string[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const free = left.filter(
      ({ name }) => !left.some((other) => other.name !== name && other.references.includes(name)),
    );
    if (free.length === 0)
      throw new Error('The tables of tenants refer to each other in a circle.');
    ordered.push(...free.map(({ name }) => name));
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}

/** Triggers write tallies while rows are deleted; further rounds delete those. */
const roundsMax = 4;

/**
 * Deletes a tenant with all its rows, except its audit, in one transaction. False: there is none.
 * The caller ensures that no process works for the tenant any more. 409: it is under a legal hold.
 */
export async function deleteTenant(db: TenantDatabase, actor: string): Promise<boolean> {
  const { tenantId } = db;
  return db.transaction(async (trx) => {
    // Without time limits: the deletion is atomic, however long it takes.
    await trx.raw(`select set_config(name, '0', true) from pg_settings
      where name in ('statement_timeout', 'transaction_timeout')`);
    // Waits until a merge of its usage totals has ended; a later one finds nothing
    // (models/usage/usage-total.ts).
    await trx.raw(`select pg_advisory_xact_lock(hashtextextended('usage-total/' || ?, 0))`, [
      tenantId,
    ]);
    const hold = await findLegalHold(trx, tenantId);
    if (hold) {
      throw problem.conflict(
        `'${tenantId}' is under a legal hold: ${hold.reason}. 'durabill tenant hold ${tenantId} --release' ends it.`,
      );
    }
    const tenant: unknown = await trx('tenant').where({ id: tenantId }).forUpdate().first('id');
    if (tenant === undefined) return false;
    const names = inOrder(await readTables(trx));
    for (let round = 1; ; round += 1) {
      let deleted = 0;
      for (const name of names) deleted += await trx(name).where({ tenantId }).delete();
      if (deleted === 0) break;
      if (round === roundsMax) throw new Error(`Rows of '${tenantId}' come into being meanwhile.`);
    }
    // Written first: an event of a tenant that does not exist goes to the platform's audit.
    await recordSecurityEvent(trx, {
      tenantId,
      actor,
      entity: 'tenant',
      entityKey: tenantId,
      action: 'delete',
    });
    await trx('tenant').where({ id: tenantId }).delete();
    return true;
  });
}
