import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { decimalText } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { frequencies } from '../../kernel/time/period.js';
import { Alert, AlertFigure, alertsMax } from '../../models/balances/alert.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import { Attribute } from '../../models/catalog/attribute.js';
import {
  getAlert,
  missingAlert,
  presentAlert,
  type AlertDto,
} from '../../queries/balances/alert.js';
import { findDefinition } from '../../queries/workflows/definition.js';
import type { AlertCreate, AlertUpdate } from '../../schemas/balances/alert.js';

export const lifetime = 'Lifetime';

/** Makes an alert (spec/beyond.md R275). 400: its scope is not one of its measure. 409: the name. */
export async function createAlert(scope: Scope, input: AlertCreate): Promise<AlertDto> {
  const { tenantId, now } = scope;
  const columns = columnsOf(input);
  return scope.db.transaction(async (trx) => {
    await checkScope(trx, tenantId, input);
    await Alert.change(trx, tenantId);
    const count = await Alert.query(trx).forTenant(tenantId).existing().resultSize();
    if (count >= alertsMax) {
      throw problem.conflict(`There are ${alertsMax} alerts, the most that there may be.`);
    }
    const workflowId = await workflowOf(within(scope, trx), input);
    const at = now();
    const alert = await Alert.query(trx)
      .forTenant(tenantId)
      .insert({ ...columns, workflowId, armedAt: at, createdAt: at, updatedAt: at })
      .returning('*');
    return presentAlert(alert);
  });
}

/**
 * Changes what is given of an alert. 400: as of a new one. 404: there is none. 409: the name is taken.
 */
export async function updateAlert(scope: Scope, id: string, input: AlertUpdate): Promise<AlertDto> {
  const { tenantId, now } = scope;
  return scope.db.transaction(async (trx) => {
    const alert = await lockAlert(trx, tenantId, id);
    const before = presentAlert(alert);
    const merged = { ...before, ...input };
    const columns = columnsOf(merged);
    await checkScope(trx, tenantId, merged);
    await Alert.change(trx, tenantId);
    const at = now();
    // Another name, or another workflow to start, leaves the figures as they are.
    const isOther = !isDeepStrictEqual({ ...columnsOf(before), name: columns.name }, columns);
    // A workflow that was deleted meanwhile hinders no change of other fields.
    const workflowId =
      input.workflowId === undefined || input.workflowId === before.workflowId
        ? before.workflowId
        : await workflowOf(within(scope, trx), input);
    await Alert.query(trx)
      .forTenant(tenantId)
      .findById(id)
      .patch({ ...columns, workflowId, updatedAt: at, ...(isOther ? { armedAt: at } : {}) });
    if (isOther) await AlertFigure.forget(trx, tenantId, id);
    return getAlert(within(scope, trx), id);
  });
}

/** Deletes an alert; its name is free again. 404: there is none. */
export async function deleteAlert({ db, tenantId, now }: Scope, id: string): Promise<void> {
  await db.transaction(async (trx) => {
    await lockAlert(trx, tenantId, id);
    await Alert.query(trx).forTenant(tenantId).findById(id).patch({ deletedAt: now() });
    await AlertFigure.forget(trx, tenantId, id);
  });
}

async function lockAlert(trx: Knex.Transaction, tenantId: string, id: string): Promise<Alert> {
  const alert = await Alert.query(trx).forTenant(tenantId).existing().findById(id).forUpdate();
  if (!alert) throw missingAlert(id);
  return alert;
}

/** The id of the workflow that an alert executes. 400: the tenant has none of that id or name. */
async function workflowOf(
  scope: Scope,
  { workflowId }: Pick<AlertUpdate, 'workflowId'>,
): Promise<string | null> {
  if (workflowId === undefined || workflowId === null) return null;
  const found = await findDefinition(scope, workflowId);
  if (found) return found.id;
  throw problem.validation(`'workflowId' names no workflow of your own: '${workflowId}'`, {
    field: 'workflowId',
    value: workflowId,
  });
}

type Given = Pick<
  AlertCreate,
  'accountId' | 'contractId' | 'walletId' | 'serviceId' | 'attribute' | 'measure'
> &
  Pick<AlertCreate, 'name' | 'period' | 'thresholds'>;

function columnsOf(given: Given) {
  const thresholds = [...given.thresholds].sort((a, b) => a.comparedTo(b)).map(decimalText);
  return {
    name: given.name,
    accountId: given.accountId ?? null,
    contractId: given.contractId ?? null,
    walletId: given.walletId ?? null,
    serviceId: given.serviceId ?? null,
    attribute: given.attribute ?? null,
    measure: given.measure,
    period: periodNamed(given.period),
    thresholds: [...new Set(thresholds)],
  };
}

/** The canonical name of a period. 400: there is no such. */
function periodNamed(text: string): string {
  const known = [...frequencies, lifetime];
  const found = known.find((name) => name.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw problem.validation(`'period' '${text}' must be one of: ${known.join(', ')}`, {
    field: 'period',
    value: text,
  });
}

/** 400: what is given does not fit the measure, or names nothing. */
async function checkScope(trx: Knex.Transaction, tenantId: string, given: Given): Promise<void> {
  const isBalance = given.measure === 'balance';
  const needed = isBalance
    ? (['walletId'] as const)
    : given.measure === 'quantity'
      ? (['serviceId', 'attribute'] as const)
      : [];
  const refused = isBalance
    ? (['accountId', 'contractId', 'serviceId', 'attribute'] as const)
    : given.measure === 'quantity'
      ? (['walletId'] as const)
      : (['walletId', 'attribute'] as const);
  for (const field of needed) {
    if ((given[field] ?? null) !== null) continue;
    throw problem.validation(`'${field}' is required with the measure ${given.measure}`, { field });
  }
  for (const field of refused) {
    if ((given[field] ?? null) === null) continue;
    throw problem.validation(`'${field}' means nothing with the measure ${given.measure}`, {
      field,
    });
  }
  const named = [
    ['accountId', 'account'],
    ['contractId', 'contract'],
    ['walletId', 'wallet'],
    ['serviceId', 'service'],
  ] as const;
  for (const [field, table] of named) {
    const id = given[field] ?? null;
    if (id === null) continue;
    const found: unknown = await trx(table)
      .where({ tenantId, id })
      .whereNull('deletedAt')
      .first('id');
    if (found !== undefined) continue;
    throw problem.validation(`'${field}' names no ${table}: '${id}'`, { field, value: id });
  }
  await requireOneAccount(trx, tenantId, given);
  await requireAttribute(trx, tenantId, given);
}

/** 400: no charge of the contract is the account's, so that nothing would ever move (R309). */
async function requireOneAccount(
  trx: Knex.Transaction,
  tenantId: string,
  { accountId, contractId }: Given,
): Promise<void> {
  if ((accountId ?? null) === null || (contractId ?? null) === null) return;
  const found = await sqlRows(
    trx,
    `select 1 from contract where tenant_id = :tenantId and id = :contractId::uuid
       and (master_account_id = :accountId::uuid or exists (
         select from contract_service as line join account_share as share
           on share.tenant_id = :tenantId and share.contract_service_id = line.id
         where line.tenant_id = :tenantId and line.contract_id = contract.id
           and share.account_id = :accountId::uuid
       ))`,
    { tenantId, accountId, contractId },
  );
  if (found.length > 0) return;
  throw problem.validation(
    `'contractId' is a contract of another account than 'accountId': '${contractId ?? ''}'`,
    { field: 'contractId', value: contractId },
  );
}

async function requireAttribute(
  trx: Knex.Transaction,
  tenantId: string,
  { serviceId, attribute }: Given,
): Promise<void> {
  if ((attribute ?? null) === null || (serviceId ?? null) === null) return;
  const found = await Attribute.query(trx)
    .forTenant(tenantId)
    .existing()
    .findOne({ serviceId: serviceId ?? '', name: attribute ?? '' });
  if (found) return;
  throw problem.validation(`'attribute' names no attribute of the service: '${attribute ?? ''}'`, {
    field: 'attribute',
    value: attribute,
  });
}
