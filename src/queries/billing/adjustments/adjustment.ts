import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { Adjustment } from '../../../models/billing/adjustments/adjustment.js';
import type * as schema from '../../../schemas/billing/adjustment.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import { listPage } from '../../lists/listing.js';

export type AdjustmentDto = Static<typeof schema.Adjustment>;

export const missingAdjustment = (id: string) =>
  problem.notFound(`There is no adjustment '${id}'.`);

export function presentAdjustment(adjustment: Adjustment): AdjustmentDto {
  const { id, accountId, contractId, contractServiceId, kind, currency, serviceId } = adjustment;
  return {
    id,
    accountId,
    contractId,
    contractServiceId,
    kind,
    value: new Decimal(adjustment.value),
    currency,
    serviceId,
    period: adjustment.period,
    from: adjustment.fromDate,
    to: adjustment.toDate,
    createdAt: adjustment.createdAt.toISOString(),
    updatedAt: adjustment.updatedAt.toISOString(),
  };
}

interface AdjustmentFilter {
  readonly accountId?: string;
  readonly contractId?: string;
  readonly contractServiceId?: string;
  readonly serviceId?: string;
  readonly kind?: AdjustmentDto['kind'];
}

/** One page of adjustments, by their first day. */
export function listAdjustments(
  { db, tenantId }: Scope,
  page: PageRequest & AdjustmentFilter,
): Promise<Listed<AdjustmentDto>> {
  const { accountId, contractId, contractServiceId, serviceId, kind } = page;
  const query = Adjustment.query(db.read).forTenant(tenantId).existing();
  if (accountId !== undefined) void query.where({ accountId });
  if (contractId !== undefined) void query.where({ contractId });
  if (contractServiceId !== undefined) void query.where({ contractServiceId });
  if (serviceId !== undefined) void query.where({ serviceId });
  if (kind !== undefined) void query.where({ kind });
  return listPage(query.orderBy(['fromDate', 'id']), page, presentAdjustment);
}

/** An adjustment. 404: there is none. */
export async function getAdjustment({ db, tenantId }: Scope, id: string): Promise<AdjustmentDto> {
  const adjustment = await Adjustment.query(db.read).forTenant(tenantId).existing().findById(id);
  if (!adjustment) throw missingAdjustment(id);
  return presentAdjustment(adjustment);
}
