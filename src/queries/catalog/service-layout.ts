import { JsonText } from '../../kernel/text/json.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { ServiceLayout } from '../../models/catalog/service-layout.js';
import { requireService } from './require-service.js';

/** The layout of a service as it was saved. 404: no such service, or none was saved. */
export async function getServiceLayout(
  { db, tenantId }: Scope,
  serviceId: string,
): Promise<JsonText> {
  await requireService(db.read, tenantId, serviceId);
  const layout = await ServiceLayout.query(db.read)
    .forTenant(tenantId)
    .existing()
    .findOne({ serviceId });
  if (!layout) throw problem.notFound(`The service '${serviceId}' has no layout.`);
  return new JsonText(layout.document);
}
