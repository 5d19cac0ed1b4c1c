import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { foreverPeriod, isFrequency, periodOf, type Period } from '../../kernel/time/period.js';
import { Alert, AlertFigure, noAccount } from '../../models/balances/alert.js';
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

/** The period of an alert that has a day. */
export const periodAt = (name: string, date: string): Period =>
  isFrequency(name) ? periodOf(name, date) : foreverPeriod;

/** Whether an alert counts each account by itself. */
export const isOfEach = ({ accountId, contractId, walletId }: Alert): boolean =>
  accountId === null && contractId === null && walletId === null;

/** Where alerts stand in the running period, of an account where they count each by itself. */
async function readCounted(
  { db, tenantId, now }: Scope,
  accountId: string,
  alerts: readonly Alert[],
): Promise<ReadonlyMap<string, AlertDto['counted']>> {
  const today = utcDate(now());
  const asked = alerts.map((alert) => ({
    alertId: alert.id,
    accountId: isOfEach(alert) ? accountId : noAccount,
    periodStart: periodAt(alert.period, today).start,
  }));
  const figures = await AlertFigure.find(db.read, tenantId, asked);
  return new Map(
    alerts.map((alert) => {
      const rows = figures
        .filter(({ alertId }) => alertId === alert.id)
        .map(({ currency, value }) => ({
          currency: currency === '' ? null : currency,
          value: new Decimal(value),
        }));
      // A figure is there from its first movement on, with what was charged in the period before, be it
      // of usage that was dated ahead: until then it is not known, and not 0.
      return [alert.id, rows.length > 0 ? rows : null];
    }),
  );
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

/** One page of alerts by name; those of an account with what they have counted. */
export async function listAlerts(
  scope: Scope,
  { accountId, ...page }: PageRequest & { readonly accountId?: string },
): Promise<Listed<AlertDto>> {
  const query = Alert.query(scope.db.read).forTenant(scope.tenantId).existing().orderBy('name');
  if (accountId === undefined) return listPage(query, page, presentAlert);
  const { items, ...list } = await listPage(
    query.whereRaw(concernsAccount, { accountId }),
    page,
    (alert) => alert,
  );
  const counted = await readCounted(scope, accountId, items);
  return {
    ...list,
    items: items.map((alert) => ({
      ...presentAlert(alert),
      counted: counted.get(alert.id) ?? null,
    })),
  };
}

/** An alert. 404: there is none. */
export async function getAlert({ db, tenantId }: Scope, id: string): Promise<AlertDto> {
  const alert = await Alert.query(db.read).forTenant(tenantId).existing().findById(id);
  if (!alert) throw missingAlert(id);
  return presentAlert(alert);
}
