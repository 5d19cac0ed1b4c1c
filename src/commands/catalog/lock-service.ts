import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import { Service } from '../../models/catalog/service.js';
import { missingService } from '../../queries/catalog/require-service.js';

const holdService =
  (lock: 'forShare' | 'forUpdate') =>
  async (trx: Knex.Transaction, { tenantId }: Scope, id: string): Promise<Service> => {
    const services = Service.query(trx).forTenant(tenantId).existing();
    const service = await services.findById(id)[lock]();
    if (!service) throw missingService(id);
    return service;
  };

/** The existing service, kept as it is until the transaction ends. 404: there is none. */
export const keepService = holdService('forShare');

/**
 * The existing service, held until the transaction ends: whoever changes a part of a service holds
 * the service first. 404: there is none.
 */
export const lockService = holdService('forUpdate');
