import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Alert } from '../../models/balances/alert.js';
import type * as schema from '../../schemas/balances/alert.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { listPage } from '../lists/listing.js';

export type AlertDto = Static<typeof schema.Alert>;

export const missingAlert = (id: string) => problem.notFound(`There is no alert '${id}'.`);

export function presentAlert(alert: Alert): AlertDto {
  const { id, name, accountId, contractId, walletId, serviceId, attribute, measure } = alert;
  return {
    id,
    name,
    accountId,
    contractId,
    walletId,
    serviceId,
    attribute,
    measure,
    period: alert.period,
    thresholds: alert.thresholds.map((threshold) => new Decimal(threshold)),
    workflowId: alert.workflowId,
    createdAt: alert.createdAt.toISOString(),
    updatedAt: alert.updatedAt.toISOString(),
  };
}

/** One page of alerts by name. */
export function listAlerts({ db, tenantId }: Scope, page: PageRequest): Promise<Listed<AlertDto>> {
  const query = Alert.query(db.read).forTenant(tenantId).existing().orderBy('name');
  return listPage(query, page, presentAlert);
}

/** An alert. 404: there is none. */
export async function getAlert({ db, tenantId }: Scope, id: string): Promise<AlertDto> {
  const alert = await Alert.query(db.read).forTenant(tenantId).existing().findById(id);
  if (!alert) throw missingAlert(id);
  return presentAlert(alert);
}
