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

/** Alerts that charges of an account or movements of its wallets can trigger. */
const concernsAccount = `case
  when alert.wallet_id is not null then exists (
    select from wallet
    where wallet.tenant_id = alert.tenant_id and wallet.id = alert.wallet_id
      and wallet.account_id = :accountId::uuid)
  when alert.account_id is not null then alert.account_id = :accountId::uuid
  when alert.contract_id is not null then exists (
    select from contract
    where contract.tenant_id = alert.tenant_id and contract.id = alert.contract_id
      and contract.master_account_id = :accountId::uuid
    union all
    select from contract_service as line
    join account_share as share
      on share.tenant_id = line.tenant_id and share.contract_service_id = line.id
    where line.tenant_id = alert.tenant_id and line.contract_id = alert.contract_id
      and share.account_id = :accountId::uuid)
  else true end`;

/** One page of alerts by name. */
export function listAlerts(
  { db, tenantId }: Scope,
  { accountId, ...page }: PageRequest & { readonly accountId?: string },
): Promise<Listed<AlertDto>> {
  const query = Alert.query(db.read).forTenant(tenantId).existing().orderBy('name');
  if (accountId !== undefined) void query.whereRaw(concernsAccount, { accountId });
  return listPage(query, page, presentAlert);
}

/** An alert. 404: there is none. */
export async function getAlert({ db, tenantId }: Scope, id: string): Promise<AlertDto> {
  const alert = await Alert.query(db.read).forTenant(tenantId).existing().findById(id);
  if (!alert) throw missingAlert(id);
  return presentAlert(alert);
}
