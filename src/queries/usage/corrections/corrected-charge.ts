import type { Static } from 'typebox';
import { Decimal, ZERO } from '../../../kernel/numbers/money.js';
import type { Scope } from '../../../kernel/scope.js';
import { sqlRows } from '../../../models/db/sql-rows.js';
import type { Listed } from '../../../schemas/http/operation.js';
import type { PageRequest } from '../../../schemas/http/paging.js';
import type * as schema from '../../../schemas/usage/usage-correction.js';
import type { ArchiveFiles } from '../../../messages/ageing/usage-archive.js';
import { answerFromArchive } from '../archive/answer-from-archive.js';
import { findCorrection } from './correction.js';
import { chargesThatFit } from './content-at.js';
import { explainPairs, type ChargePair } from './explained-pairs.js';

type CorrectedChargeDto = Static<typeof schema.CorrectedCharge>;

/**
 * Joins of the charges of a correction, each by its id: a plain join may read all charges of the tenant
 * for each, where statistics know nothing of the tenant.
 */
export const chargeJoins = (
  tenantId: string,
  pair: string,
  before: string,
  after: string,
): string => {
  const byId = (id: string): string => `lateral (
    select * from rated_transaction where tenant_id = ${tenantId} and id = ${id} limit 1)`;
  const anyId = `case when ${pair}.after_id is null then ${pair}.before_id else ${pair}.after_id end`;
  return `
  left join ${byId(`${pair}.before_id`)} as ${before} on true
  left join ${byId(`${pair}.after_id`)} as ${after} on true
  join ${byId(anyId)} as any_of on true`;
};

/** SQL: only the charges of one event, where one is asked for. */
const ofEvent = `and (:eventId::uuid is null or event_id = :eventId)`;

const pairsSql = `
  with page as materialized (
    select * from usage_correction_charge
    where tenant_id = :tenantId and correction_id = :correctionId ${ofEvent}
    order by position limit :limit offset :offset
  )
  select page.position, page.event_id as "eventId", page.before_id as "beforeId",
    page.after_id as "afterId", any_of.external_tran_id as "externalTransactionId",
    any_of.account_id as "accountId", any_of.service_id as "serviceId", any_of.currency,
    any_of.usage_type as "usageType", any_of.transaction_date::text as "transactionDate",
    before.amount as "before", after.amount as "after"
  from page ${chargeJoins(':tenantId', 'page', 'before', 'after')}
  order by page.position`;

const explainedMax = 100;

interface AskedCharges {
  readonly correctionId: string;
  readonly isExplained: boolean;
  /** Only those of this event. */
  readonly eventId?: string | undefined;
}

/**
 * The charges of a correction in the order of the log (spec/beyond.md R206). 404: there is none. 409: they
 * are in too many files of the archive.
 */
export async function listCorrectedCharges(
  scope: Scope,
  archive: ArchiveFiles | undefined,
  asked: AskedCharges,
  page: PageRequest,
): Promise<Listed<CorrectedChargeDto>> {
  const { tenantId, db } = scope;
  const { correctionId } = asked;
  const { createdAt } = await findCorrection(scope, correctionId);
  const events = await sqlRows<{ id: string }>(
    db.read,
    `select distinct event_id as id from (
       select event_id from usage_correction_charge
       where tenant_id = :tenantId and correction_id = :correctionId ${ofEvent}
       order by position limit :limit offset :offset
     ) as page`,
    {
      tenantId,
      correctionId,
      eventId: asked.eventId ?? null,
      limit: page.limit,
      offset: page.offset,
    },
  );
  const ids = events.map(({ id }) => id);
  const read = (inside: Scope) => readCharges(inside, asked, createdAt, page);
  return (await answerFromArchive(scope, archive, ids, read)) ?? read(scope);
}

async function readCharges(
  scope: Scope,
  { correctionId, isExplained, eventId }: AskedCharges,
  correctedAt: Date,
  { limit, offset }: PageRequest,
): Promise<Listed<CorrectedChargeDto>> {
  const { tenantId, db } = scope;
  const most = isExplained ? Math.min(limit, explainedMax) : limit;
  const charges = { tenantId, correctionId, eventId: eventId ?? null };
  const bindings = { ...charges, limit: most, offset };
  const found = await sqlRows<ChargePair>(db.read, pairsSql, bindings);
  const pairs = isExplained
    ? await chargesThatFit(db.read, tenantId, found, ({ eventId }) => eventId)
    : found;
  const [{ total } = { total: 0 }] = await sqlRows<{ total: number }>(
    db.read,
    `select count(*)::integer as "total" from usage_correction_charge
     where tenant_id = :tenantId and correction_id = :correctionId ${ofEvent}`,
    charges,
  );
  const explained = isExplained ? await explainPairs(scope, pairs, correctedAt) : [];
  const shown = isExplained ? pairs.slice(0, explained.length) : pairs;
  const items = shown.map((pair, index) => ({ ...presentPair(pair), ...explained[index] }));
  return { items, total, isCut: isExplained && items.length < Math.min(limit, total - offset) };
}

function presentPair(pair: ChargePair): CorrectedChargeDto {
  const { eventId, externalTransactionId, accountId, serviceId, currency } = pair;
  const { usageType, transactionDate, before, after, beforeId, afterId } = pair;
  const [was, is] = [before, after].map((text) => (text === null ? ZERO : new Decimal(text)));
  const [from, to] = [was ?? ZERO, is ?? ZERO];
  return {
    eventId,
    externalTransactionId,
    accountId,
    serviceId,
    currency,
    usageType,
    transactionDate,
    before: from,
    after: to,
    difference: to.minus(from),
    beforeId,
    afterId,
  };
}
