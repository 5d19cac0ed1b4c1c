import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { definitionWorkflow } from '../../messages/definitions/definition-run.js';
import { sqlRows } from '../../models/db/sql-rows.js';
import * as schema from '../../schemas/access/status.js';
import { builtInNameOf, workflowIdOf } from '../../schemas/flows/flow-id.js';
import { findPendingUsage, type AskedLog } from '../usage/usage-summary.js';

type StatusDto = Static<typeof schema.TenantStatus>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Executions of rating that are looked at: of each up to 16,000 events. */
const ratingsMax = 50_000;

const instant = (at: Date | null): string | null => at?.toISOString() ?? null;

interface MinuteRow {
  readonly minute: Date;
  readonly ratings: number;
  readonly rated: string;
  readonly rejected: string;
  readonly duplicate: string;
}

/** What was rated by minute. Where there is too much of it the oldest is left out, whole minutes. */
async function findRatedMinutes(
  { db, tenantId }: Scope,
  at: Date,
): Promise<Pick<StatusDto['usage'], 'minutes' | 'minutesSince'>> {
  const running = Math.floor(at.getTime() / minuteMs) * minuteMs;
  const rows = await sqlRows<MinuteRow>(
    db.read,
    `select date_trunc('minute', started_at) as minute, count(*)::int as ratings,
       sum((output ->> 'rated')::bigint) as rated,
       sum((output ->> 'rejected')::bigint) as rejected,
       sum((output ->> 'duplicate')::bigint) as duplicate
     from (
       select started_at, output from execution
       where tenant_id = :tenantId and workflow = 'rateUsage'
         and started_at >= :from and started_at < :until
       order by started_at desc, id desc
       limit :max
     ) as rating
     group by 1 order by 1`,
    {
      tenantId,
      from: new Date(running - (schema.ratedMinutes - 1) * minuteMs),
      until: new Date(running + minuteMs),
      max: ratingsMax,
    },
  );
  const isCut = rows.reduce((sum, { ratings }) => sum + ratings, 0) >= ratingsMax;
  const [cut] = isCut ? rows.splice(0, 1) : [];
  return {
    minutes: rows.map(({ minute, rated, rejected, duplicate }) => ({
      minute: minute.toISOString(),
      rated: Number(rated),
      rejected: Number(rejected),
      duplicate: Number(duplicate),
    })),
    minutesSince: cut ? new Date(cut.minute.getTime() + minuteMs).toISOString() : null,
  };
}

/** How many events are rejected or wait to be rated, and since when. */
async function findPending(
  scope: Scope,
  log: AskedLog,
): Promise<Pick<StatusDto['usage'], 'rejected' | 'pending' | 'pendingSince'>> {
  const { since, ...counts } = await findPendingUsage(scope, log);
  return { ...counts, pendingSince: instant(since) };
}

/** Since when the first of what waits to be added to totals and lists waits: ids rise with time. */
async function findTotalsPendingSince({ db, tenantId }: Scope): Promise<string | null> {
  const rows = await sqlRows<{ since: Date | null }>(
    db.read,
    `select min(added_at) as since from (
       (select added_at from usage_change where tenant_id = :tenantId order by id limit 1)
       union all
       (select added_at from usage_unlisted where tenant_id = :tenantId order by id limit 1)
     ) as waiting`,
    { tenantId },
  );
  return instant(rows[0]?.since ?? null);
}

/** Audits that are looked at: the one that began last may not be the one that ended last. */
const auditsMax = 1_000;

const numberOrNull = (text: string | null): number | null => (text === null ? null : Number(text));

/** The last audit of usage that ended. */
async function findLastAudit({ db, tenantId }: Scope): Promise<StatusDto['audit']> {
  const rows = await sqlRows<{
    executionId: string;
    status: string;
    periodStart: string | null;
    periodEnd: string | null;
    completedAt: Date;
    events: string | null;
    samplePercent: string | null;
    unchecked: string | null;
    differences: string | null;
  }>(
    db.read,
    `select id as "executionId", status, input ->> 'periodStart' as "periodStart",
       input ->> 'periodEnd' as "periodEnd", completed_at as "completedAt",
       input ->> 'samplePercent' as "samplePercent", output ->> 'events' as events, output ->> 'unchecked' as unchecked,
       output ->> 'differenceCount' as differences
     from (
       select id, status, input, completed_at, started_at,
         case when status = 'completed' then output end as output
       from execution
       where tenant_id = ? and workflow = 'auditUsage' and status <> 'running'
       order by started_at desc, id desc limit ?
     ) as ended
     order by completed_at desc, started_at desc, id desc limit 1`,
    [tenantId, auditsMax],
  );
  const [audit] = rows;
  if (!audit) return null;
  const { completedAt, events, samplePercent, unchecked, differences } = audit;
  return {
    ...audit,
    completedAt: completedAt.toISOString(),
    events: numberOrNull(events),
    samplePercent: numberOrNull(samplePercent),
    unchecked: numberOrNull(unchecked),
    differences: numberOrNull(differences),
  };
}

async function findWebhooks({ db, tenantId }: Scope, failedFrom: Date) {
  const [row] = await sqlRows<{
    pending: number;
    failed: number;
    failing: number;
    failingSince: Date | null;
  }>(
    db.read,
    `select
       (select count(*)::int from (
         select from webhook_delivery
         where tenant_id = :tenantId and status in ('pending', 'sending', 'retrying') limit :max
       ) as waiting) as pending,
       (select count(*)::int from (
         select from webhook_delivery
         where tenant_id = :tenantId and status = 'failed' and ended_at >= :failedFrom limit :max
       ) as lost) as failed,
       count(*)::int as failing, min(failure.since) as "failingSince"
     from webhook_failure as failure
     join webhook on webhook.tenant_id = failure.tenant_id and webhook.id = failure.webhook_id
     where failure.tenant_id = :tenantId and webhook.active`,
    { tenantId, failedFrom, max: schema.countedMax },
  );
  const { pending = 0, failed = 0, failing = 0, failingSince = null } = row ?? {};
  return { pending, failed, failing, failingSince: instant(failingSince) };
}

/**
 * Of executions those that failed. A preview that was refused is none of them: nothing was to be done, and
 * so nothing is to be mended. Word for word the condition of the index `execution_to_mend`, which is why no
 * input is read.
 */
const failedSql = `tenant_id = :tenantId and completed_at >= :failedFrom
  and status in ('failed', 'timed_out', 'terminated') and (
    workflow not in ('amendUsageEvent', 'cancelUsageEvent', 'rerateUsage', 'runBilling')
    or coalesce(error ->> 'kind', 'internal') = 'internal'
    or input ->> 'dryRun' is distinct from 'true')`;

interface FailureRow {
  readonly executionId: string;
  readonly workflow: string;
  readonly status: string;
  readonly completedAt: Date;
  readonly message: string | null;
  /** Of a tenant's own workflow. */
  readonly name: string | null;
}

async function findFailures(
  { db, tenantId }: Scope,
  failedFrom: Date,
): Promise<StatusDto['executions']['failures']> {
  const rows = await sqlRows<FailureRow>(
    db.read,
    `select failure.id as "executionId", workflow, status, completed_at as "completedAt",
       left(error ->> 'message', 500) as message, definition.name
     from (
       select id, workflow, status, completed_at, error from execution where ${failedSql}
       order by completed_at desc limit :max
     ) as failure left join workflow_definition as definition
       on definition.tenant_id = :tenantId and failure.workflow = :prefix::text || definition.id
     order by completed_at desc, failure.id desc`,
    { tenantId, failedFrom, max: schema.failuresMax, prefix: definitionWorkflow('') },
  );
  return rows.map(({ executionId, workflow, status, completedAt, message, name }) => ({
    executionId,
    workflowId: workflowIdOf(workflow),
    workflowName: name ?? builtInNameOf(workflow),
    status,
    completedAt: completedAt.toISOString(),
    message,
  }));
}

async function findExecutions(
  scope: Scope,
  failedFrom: Date,
): Promise<Omit<StatusDto['executions'], 'failures'>> {
  const { db, tenantId } = scope;
  const [row] = await sqlRows<{ running: number; runningSince: Date | null; failed: number }>(
    db.read,
    `select count(*)::int as running, min(started_at) as "runningSince",
       (select count(*)::int from (
         select from execution where ${failedSql} limit :max
       ) as lost) as failed
     from (
       select started_at from execution where tenant_id = :tenantId and status = 'running'
       order by started_at limit :max
     ) as running`,
    { tenantId, failedFrom, max: schema.countedMax },
  );
  const { running = 0, runningSince = null, failed = 0 } = row ?? {};
  return { running, runningSince: instant(runningSince), failed };
}

/**
 * What waits, runs and failed of a tenant (spec/beyond.md R437, R438): each from an index and bounded, one
 * after the other, so that it takes one connection.
 */
export async function getStatus(
  scope: Scope,
  log: AskedLog,
): Promise<Omit<StatusDto, 'parts' | 'limits'>> {
  const at = scope.realNow();
  const failedFrom = new Date(at.getTime() - schema.failedHours * hourMs);
  return {
    at: at.toISOString(),
    usage: {
      ...(await findPending(scope, log)),
      totalsPendingSince: await findTotalsPendingSince(scope),
      ...(await findRatedMinutes(scope, at)),
    },
    audit: await findLastAudit(scope),
    webhooks: await findWebhooks(scope, failedFrom),
    executions: {
      ...(await findExecutions(scope, failedFrom)),
      failures: await findFailures(scope, failedFrom),
    },
  };
}
