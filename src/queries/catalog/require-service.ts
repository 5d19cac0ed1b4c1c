import type { Knex } from 'knex';
import { problem, type Problem } from '../../kernel/problem.js';
import { Service } from '../../models/catalog/service.js';

/** The problem of a service that is not there. */
export const missingService = (id: string): Problem =>
  problem.notFound(`There is no service '${id}'.`);

/** Throws 404 unless the tenant has such a service. */
export async function requireService(db: Knex, tenantId: string, id: string): Promise<void> {
  const service = await Service.query(db).forTenant(tenantId).existing().findById(id).select('id');
  if (!service) throw missingService(id);
}
