import type { Knex } from 'knex';
import { sqlRows } from '../db/sql-rows.js';

/** While it stands, nothing of its tenant is removed because of its age, or erased. */
export interface LegalHold {
  readonly tenantId: string;
  readonly reason: string;
  readonly placedBy: string;
  readonly placedAt: Date;
}

const lockOf = `hashtextextended('retention/' || ?, 0)`;

/**
 * Takes the lock of whatever removes or erases of a tenant until the transaction ends; false: another
 * process has it. `age_audit` takes it, too.
 */
export async function tryAgeingLock(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  const rows = await sqlRows<{ isHeld: boolean }>(
    trx,
    `select pg_try_advisory_xact_lock(${lockOf}) as "isHeld"`,
    [tenantId],
  );
  return rows[0]?.isHeld === true;
}

/** The same, waiting until a removal that is under way has ended. */
export async function takeAgeingLock(trx: Knex.Transaction, tenantId: string): Promise<void> {
  await trx.raw(`select pg_advisory_xact_lock(${lockOf})`, [tenantId]);
}

export async function findLegalHold(db: Knex, tenantId: string): Promise<LegalHold | undefined> {
  return db<LegalHold>('legalHold').where({ tenantId }).first();
}

/** Places a hold; false: there is one, which stays as it is. Afterwards nothing is removed any more. */
export async function placeLegalHold(trx: Knex.Transaction, hold: LegalHold): Promise<boolean> {
  await takeAgeingLock(trx, hold.tenantId);
  const rows = (await trx('legalHold')
    .insert(hold)
    .onConflict('tenant_id')
    .ignore()
    .returning('tenantId')) as unknown[];
  return rows.length > 0;
}

/** Ends a hold; false: there is none. */
export async function releaseLegalHold(trx: Knex.Transaction, tenantId: string): Promise<boolean> {
  return (await trx('legalHold').where({ tenantId }).delete()) > 0;
}

/** How many tenants are under a hold; as the platform sees them. */
export async function countLegalHolds(platform: Knex): Promise<number> {
  const rows = await sqlRows<{ count: number }>(
    platform,
    'select count(*)::integer as count from legal_hold',
  );
  return rows[0]?.count ?? 0;
}
