import type { JsonText } from '../../kernel/text/json.js';
import type { Scope } from '../../kernel/scope.js';
import { ServiceLayout } from '../../models/catalog/service-layout.js';
import { lockService } from './lock-service.js';

/** Saves the layout of a service in the place of the one it has. 404: there is no such service. */
export async function saveServiceLayout(
  scope: Scope,
  serviceId: string,
  layout: JsonText,
): Promise<JsonText> {
  return scope.db.transaction(async (trx) => {
    const service = await lockService(trx, scope, serviceId);
    const layouts = () => ServiceLayout.query(trx).forTenant(scope.tenantId);
    const change = { document: layout.text, updatedAt: scope.now() };
    const owner = { serviceId: service.id };
    const changed = await layouts().existing().where(owner).patch(change);
    if (changed === 0) await layouts().insert({ ...owner, document: layout.text });
    return layout;
  });
}
