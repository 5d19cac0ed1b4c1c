import type { Knex } from 'knex';
import { problem, type Problem } from '../../kernel/problem.js';
import { Contract } from '../../models/contracts/contract.js';

/** The problem of a contract that is not there. */
export const missingContract = (id: string): Problem =>
  problem.notFound(`There is no contract '${id}'.`);

/** Throws 404 unless the tenant has such a contract. */
export async function requireContract(db: Knex, tenantId: string, id: string): Promise<void> {
  const contract = await Contract.query(db)
    .forTenant(tenantId)
    .existing()
    .findById(id)
    .select('id');
  if (!contract) throw missingContract(id);
}
