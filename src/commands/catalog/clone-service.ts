import { within, type Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { Service } from '../../models/catalog/service.js';
import { getService, type ServiceDto } from '../../queries/catalog/service.js';
import { ServiceCreate } from '../../schemas/catalog/service.js';
import { validate } from '../../schemas/fields/validator.js';
import { lockService } from './lock-service.js';
import { createService } from './service.js';

/** `Storage (copy)`, then `Storage (copy 2)` and so on: the first that is free. */
function copyName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const copy = `${name} (copy${number === 1 ? '' : ` ${number}`})`;
    if (!taken.has(copy)) return copy;
  }
}

/**
 * A body that creates the same service. Rows reference attributes by name, since the copies get new
 * ids; read-only fields of answers are ignored, as in any body.
 */
function bodyOf(service: ServiceDto, name: string): unknown {
  const names = new Map(service.priceableAttributes.map((one) => [one.id, one.name]));
  return {
    ...service,
    name,
    rateCards: service.rateCards.map(({ currency, rows }) => ({
      currency,
      rows: rows.map(({ priceDimId, ...row }) => ({
        ...row,
        priceDimName: names.get(String(priceDimId)),
      })),
    })),
  };
}

/**
 * Copies a service with its attributes, current rate cards and pricing logic, as a draft for
 * approval (spec/flows.md R18). 404: there is none.
 */
export async function cloneService(scope: Scope, id: string): Promise<ServiceDto> {
  return scope.db.transaction(async (trx) => {
    // Concurrent copies of the same service wait here, so that two of them never get one name.
    const source = await lockService(trx, scope, id);
    const named = await Service.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .select('name')
      .whereRaw('starts_with(name, ?)', [`${source.name} (copy`]);
    const service = await getService(trx, scope.tenantId, source.id, utcDate(scope.now()));
    const name = copyName(service.name, new Set(named.map((one) => one.name)));
    return createService(within(scope, trx), validate(ServiceCreate, bodyOf(service, name)));
  });
}
