import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import { Service } from '../../models/catalog/service.js';
import { missingService } from '../../queries/catalog/require-service.js';

/** The existing service, kept as it is until the transaction ends. 404: there is none. */
export async function keepService(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
): Promise<Service> {
  const service = await Service.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forShare();
  if (!service) throw missingService(id);
  return service;
}

/**
 * The existing service, held until the transaction ends: whoever changes a part of a service holds
 * the service first. 404: there is none.
 */
export async function lockService(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
): Promise<Service> {
  const service = await Service.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!service) throw missingService(id);
  return service;
}
