import type { Static } from 'typebox';
import { Decimal } from '../../../kernel/numbers/money.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import {
  UsageCorrection,
  type CurrencySum,
} from '../../../models/usage/corrections/usage-correction.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import type * as schema from '../../../schemas/usage/usage-correction.js';
import { listPage } from '../../lists/listing.js';

type CorrectionSummaryDto = Static<typeof schema.UsageCorrectionSummary>;
type CorrectionDto = Static<typeof schema.UsageCorrection>;

/** Sums as the API shows them. */
export const presentSums = (sums: readonly CurrencySum[]) =>
  sums.map(({ currency, amount }) => ({ currency, amount: new Decimal(amount) }));

/** What a summary shows: what each of up to thousands of accounts came to is not read for it (docs/decisions/0544). */
const summaryColumns = [
  'id',
  'kind',
  'reason',
  'actor',
  'executionId',
  'eventId',
  'scope',
  'events',
  'changed',
  'rejected',
  'before',
  'after',
  'createdAt',
] as const satisfies readonly (keyof UsageCorrection)[];

function presentSummary(
  correction: Pick<UsageCorrection, (typeof summaryColumns)[number]>,
): CorrectionSummaryDto {
  const { id, kind, reason, actor, executionId, eventId, scope, events, changed } = correction;
  const of = (name: string): string | null => (scope[name] as string | undefined) ?? null;
  return {
    id,
    kind,
    reason,
    actor,
    executionId,
    eventId,
    from: of('from'),
    to: of('to'),
    accountId: of('accountId'),
    contractId: of('contractId'),
    serviceId: of('serviceId'),
    createdAt: correction.createdAt.toISOString(),
    events,
    changed,
    rejected: correction.rejected.map((each) => ({ ...each })),
    before: presentSums(correction.before),
    after: presentSums(correction.after),
  };
}

/** What corrections can be chosen by. */
interface CorrectionFilter {
  readonly eventId?: string;
  readonly accountId?: string;
}

/** Corrections, newest first (spec/beyond.md R205). */
export function listCorrections(
  { db, tenantId }: Scope,
  { eventId, accountId }: CorrectionFilter,
  page: PageRequest,
): Promise<Listed<CorrectionSummaryDto>> {
  const query = UsageCorrection.query(db.read)
    .forTenant(tenantId)
    .select(...summaryColumns)
    .orderBy('id', 'desc');
  if (eventId !== undefined) void query.where({ eventId });
  if (accountId !== undefined) void query.whereRaw(`scope ->> 'accountId' = ?`, [accountId]);
  return listPage(query, page, presentSummary);
}

/** A correction. 404: there is none of this id. */
export async function findCorrection(
  { db, tenantId }: Scope,
  id: string,
): Promise<UsageCorrection> {
  const found = await UsageCorrection.query(db.read).forTenant(tenantId).findById(id);
  if (!found) throw problem.notFound(`There is no correction '${id}'.`);
  return found;
}

/** A correction with what it came to by account. 404: there is none of this id. */
export async function getCorrection(scope: Scope, id: string): Promise<CorrectionDto> {
  const found = await findCorrection(scope, id);
  return {
    ...presentSummary(found),
    accounts: found.accounts.map(({ accountId, currency, before, after }) => ({
      accountId,
      currency,
      before: new Decimal(before),
      after: new Decimal(after),
    })),
  };
}
