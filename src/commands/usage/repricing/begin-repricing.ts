import type { Knex } from 'knex';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { stringifyJson } from '../../../kernel/text/json.js';
import type { RepriceInput } from '../../../messages/usage-workflow.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import {
  listDroppedMonths,
  monthsOfTimes,
  refuseArchived,
} from '../../../models/usage/finding/dropped-month.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import { insertRun } from '../../../models/usage/repricing/repricing.js';
import { daysTouched } from '../../../queries/usage/finding/usage-event-filter.js';
import { reviveInput } from '../../../schemas/fields/validator.js';
import { RepricingChanges } from '../../../schemas/usage/repricing.js';
import type { RepricingChange } from '../../../schemas/usage/repricing-change.js';
import { triedAdjustments } from '../../../queries/usage/repricing/changed-facts.js';
import { noteTried } from './adjust-periods.js';
import { resolveChanges } from './change-kinds.js';

type Asked = Pick<RepriceInput, 'from' | 'to' | 'accountIds' | 'serviceIds'>;

/** 409: usage of the range is in the archive alone. */
export async function requireRangeInDatabase(
  db: Knex,
  tenantId: string,
  range: Pick<Asked, 'from' | 'to'>,
): Promise<void> {
  refuseArchived(monthsOfTimes(await listDroppedMonths(db, tenantId), range));
}

/**
 * 400: a change, or what usage is chosen by, names what there is not. 409: usage of the range is in the
 * archive alone.
 */
export async function checkRepricing(
  scope: Scope,
  { from, to, accountIds, serviceIds }: Asked,
  changes: readonly RepricingChange[],
): Promise<void> {
  const { tenantId } = scope;
  await scope.db.transaction(async (trx) => {
    const known = async (
      table: 'account' | 'service',
      ids: readonly string[] | null,
      field: string,
    ): Promise<void> => {
      if (ids === null) return;
      const rows = await sqlRows<{ id: string }>(
        trx,
        `select id from ${table} where tenant_id = ? and id = any(?::uuid[])`,
        [tenantId, ids],
      );
      const found = new Set(rows.map(({ id }) => id));
      const missing = ids.find((id) => !found.has(id));
      if (missing === undefined) return;
      throw problem.validation(`'${field}' names no ${table}: '${missing}'`, {
        field,
        value: missing,
      });
    };
    await known('account', accountIds, 'accountIds');
    await known('service', serviceIds, 'serviceIds');
    await resolveChanges(trx, scope, changes, from.slice(0, 10));
  });
  await requireRangeInDatabase(scope.db.read, tenantId, { from, to });
}

/** Begins a repricing under the id of its execution. 400: see `checkRepricing`. */
export async function beginRepricing(
  scope: Scope,
  input: RepriceInput,
  executionId: string,
): Promise<{ readonly repricingId: string }> {
  const { tenantId, actor } = scope;
  const { name, from, to, accountIds, serviceIds, guard } = input;
  const changes = reviveInput(RepricingChanges, input.changes);
  await scope.db.transaction(async (trx) => {
    const facts = await resolveChanges(trx, scope, changes, from.slice(0, 10));
    const total = await UsageDay.total(trx, tenantId, ['rated'], daysTouched({ from, to }));
    await trx('repricing').insert({
      tenantId,
      id: executionId,
      name,
      actor,
      fromAt: from,
      toAt: to,
      accountIds,
      serviceIds,
      changes: stringifyJson(changes),
      accountChangeMax: guard.accountChangeMax,
      totalDecreaseMax: guard.totalDecreaseMax,
      createdAt: trx.raw('now()'),
    });
    await insertRun(trx, tenantId, { repricingId: executionId, facts, total });
    await noteTried(trx, tenantId, executionId, triedAdjustments(facts));
  });
  return { repricingId: executionId };
}
