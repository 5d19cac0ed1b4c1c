import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { Decimal } from '../../kernel/numbers/money.js';
import type { Scope } from '../../kernel/scope.js';
import { definitionOf, definitionWorkflow } from '../../messages/definitions/definition-run.js';
import { Account } from '../../models/accounts/account.js';
import { camelCase } from '../../models/db/read-records.js';
import { sqlRows, type SqlValue } from '../../models/db/sql-rows.js';
import type * as schema from '../../schemas/accounts/timeline.js';
import { builtInNameOf, workflowIdOf } from '../../schemas/flows/flow-id.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { totalByPage } from '../lists/listing.js';
import { readTimeRange, type TimeRange } from '../lists/time-range.js';
import { missingAccount } from './account.js';

type Entry = Static<typeof schema.TimelineEntry>;

export interface TimelineFilter extends Partial<TimeRange> {
  readonly kind?: schema.TimelineKind | undefined;
}

/** The tables that a kind of changes is about. */
const entitiesOf: Readonly<Record<schema.TimelineKind, readonly string[]>> = {
  flow: [],
  invoice: ['invoice'],
  payment: ['payment'],
  correction: [],
  grant: [],
  alert: [],
  change: ['account', 'address', 'contract', 'wallet'],
};
const kindOf = new Map(
  Object.entries(entitiesOf).flatMap(([kind, entities]) =>
    entities.map((entity) => [entity, kind as schema.TimelineKind] as const),
  ),
);

const within = (column: string): string => `
  (:from::timestamptz is null or ${column} >= :from)
  and (:to::timestamptz is null or ${column} < :to)`;

const changesSql = `from audit
  where tenant_id = :tenantId
    and account_of_change(entity, entity_id, before, after) = :accountId::uuid
    and entity = any(:entities::text[]) and ${within('at')}`;

const executionsSql = `from execution
  where tenant_id = :tenantId and account_of_execution(workflow, input) = :accountId::uuid
    and :hasFlows::boolean and ${within('started_at')}`;

const grantsSql = `from wallet join wallet_grant as given
    on given.tenant_id = wallet.tenant_id and given.wallet_id = wallet.id
  where wallet.tenant_id = :tenantId and wallet.account_id = :accountId::uuid
    and :hasGrants::boolean and ${within('given.created_at')}`;

const correctionsSql = `from usage_correction as correction
  where correction.tenant_id = :tenantId and :hasCorrections::boolean
    and correction.accounts @> jsonb_build_array(jsonb_build_object('accountId', :accountId::text))
    and ${within('correction.created_at')}`;

const alertsSql = `from alert_trigger as triggered
  where triggered.tenant_id = :tenantId and triggered.account_id = :accountId::uuid
    and :hasAlerts::boolean and ${within('triggered.at')}`;

/** What a page has, of each source by its index and no further than the page. */
const placesSql = `
  select at, source, id from (
    (select audit.at, 'audit' as source, lpad(audit.id::text, 20, '0') as id ${changesSql}
     order by audit.at desc, audit.id desc limit :end)
    union all
    (select execution.started_at, 'execution', execution.id::text ${executionsSql}
     order by execution.started_at desc, execution.id desc limit :end)
    union all
    (select given.created_at, 'grant', given.id::text ${grantsSql}
     order by given.created_at desc, given.id desc limit :end)
    union all
    (select correction.created_at, 'correction', correction.id::text ${correctionsSql}
     order by correction.created_at desc, correction.id desc limit :end)
    union all
    (select triggered.at, 'alert', triggered.id::text ${alertsSql}
     order by triggered.at desc, triggered.id desc limit :end)
  ) as happened
  order by at desc, source, id desc limit :limit offset :offset`;

/** Entries behind a page that are counted: of a long history, no more is read. */
const countedMax = 10_000;

const countSql = `select ${[changesSql, executionsSql, grantsSql, correctionsSql, alertsSql]
  .map((sql) => `(select count(*) from (select ${sql} limit :most) as counted)`)
  .join(' + ')} as count`;

interface Place {
  readonly at: Date;
  readonly source: 'audit' | 'execution' | 'grant' | 'correction' | 'alert';
  /** Of the audit its number, filled with zeros. */
  readonly id: string;
}

interface ChangeRow {
  readonly id: string;
  readonly at: Date;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly entity: string;
  readonly entityId: string | null;
  readonly action: string;
  readonly name: string | null;
  readonly amount: string | null;
  /** What an invoice was credited by. */
  readonly credit: string | null;
  readonly currency: string | null;
  readonly status: string | null;
  readonly paymentStatus: string | null;
  readonly changed: readonly string[];
}

/** What is shown of changes; their whole states stay in the database. */
const changeRowsSql = `
  select lpad(id::text, 20, '0') as id, at, actor, request_id as "requestId", entity, entity_id as "entityId", action,
    coalesce(state ->> 'invoice_no', state ->> 'payment_reference', state ->> 'number',
      state ->> 'title', state ->> 'name') as name,
    case entity when 'invoice'
      then (state ->> 'amount')::numeric + (state ->> 'tax_amount')::numeric
      when 'payment' then (state ->> 'amount')::numeric end as amount,
    case entity when 'invoice' then
      (after ->> 'credited_amount')::numeric - (before ->> 'credited_amount')::numeric end as credit,
    case when entity in ('invoice', 'payment') then state ->> 'currency' end as currency,
    state ->> 'invoice_status' as status, state ->> 'payment_status' as "paymentStatus",
    array(
      select key from jsonb_each(after) as each (key, value)
      where action = 'update' and before -> key is distinct from value
        and key not in ('updated_at', 'rating_version')
      order by key
    ) as changed
  from (
    select *, coalesce(after, before) as state from audit
    where tenant_id = :tenantId and id = any(:ids::bigint[])
  ) as change`;

interface ExecutionRow {
  readonly id: string;
  readonly startedAt: Date;
  readonly actor: string | null;
  readonly requestId: string | null;
  readonly workflow: string;
  /** Of a workflow of the tenant's own. */
  readonly definitionName: string | null;
  readonly status: string;
}

/** What a change means, where it is more than that something has changed. */
function verbOf({ entity, action, changed, status, paymentStatus }: ChangeRow): string {
  const has = (name: string): boolean => changed.includes(name);
  if (action === 'create') return entity === 'invoice' ? 'posted' : 'created';
  if (action !== 'update') return 'deleted';
  if (entity !== 'invoice') return 'updated';
  if (has('invoice_status') && status === 'Void') return 'voided';
  if (has('payment_status') && paymentStatus === 'Paid') return 'paid';
  if (has('overdue_at')) return 'overdue';
  return has('credited_amount') ? 'credited' : 'updated';
}

function presentChange(row: ChangeRow): Entry {
  const { at, actor, requestId, entity, entityId, name, currency, changed } = row;
  const verb = verbOf(row);
  const amount = verb === 'credited' ? row.credit : row.amount;
  return {
    at: at.toISOString(),
    kind: kindOf.get(entity) ?? 'change',
    event: `${entity}.${verb}`,
    recordType: entity,
    recordId: entityId,
    name,
    workflowId: null,
    amount: amount === null ? null : new Decimal(amount),
    currency,
    changed: changed.map(camelCase),
    actor,
    requestId,
  };
}

function presentExecution(row: ExecutionRow): Entry {
  const { id, startedAt, actor, requestId, workflow, definitionName, status } = row;
  return {
    at: startedAt.toISOString(),
    kind: 'flow',
    event: `flow.${status}`,
    recordType: 'execution',
    recordId: id,
    name: definitionName ?? definitionOf(workflow) ?? builtInNameOf(workflow),
    workflowId: workflowIdOf(workflow),
    amount: null,
    currency: null,
    changed: [],
    actor,
    requestId,
  };
}

interface GrantRow {
  readonly id: string;
  readonly at: Date;
  readonly name: string;
  readonly amount: string;
  readonly currency: string;
}

const presentGrant = ({ id, at, name, amount, currency }: GrantRow): Entry => ({
  at: at.toISOString(),
  kind: 'grant',
  event: 'grant.created',
  recordType: 'grant',
  recordId: id,
  name,
  workflowId: null,
  amount: new Decimal(amount),
  currency,
  changed: [],
  actor: null,
  requestId: null,
});

interface CorrectionRow {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly reason: string;
  readonly actor: string | null;
}

const presentCorrection = ({ id, at, kind, reason, actor }: CorrectionRow): Entry => ({
  at: at.toISOString(),
  kind: 'correction',
  event: `correction.${kind}`,
  recordType: 'correction',
  recordId: id,
  name: reason,
  workflowId: null,
  amount: null,
  currency: null,
  changed: [],
  actor,
  requestId: null,
});

interface AlertRow {
  readonly alertId: string;
  readonly id: string;
  readonly at: Date;
  readonly name: string;
  readonly value: string;
  readonly currency: string | null;
}

const presentAlert = ({ alertId, at, name, value, currency }: AlertRow): Entry => ({
  at: at.toISOString(),
  kind: 'alert',
  event: 'alert.triggered',
  recordType: 'alert',
  recordId: alertId,
  name,
  workflowId: null,
  amount: new Decimal(value),
  currency,
  changed: [],
  actor: null,
  requestId: null,
});

/** The entries of a page, in its order; what was removed meanwhile is left out. */
async function readEntries(db: Knex, tenantId: string, places: readonly Place[]): Promise<Entry[]> {
  const idsOf = (source: Place['source']): string[] =>
    places.flatMap((place) => (place.source === source ? [place.id] : []));
  const read = <Row>(sql: string, source: Place['source']): Promise<Row[]> =>
    sqlRows<Row>(db, sql, { tenantId, ids: idsOf(source), prefix: definitionWorkflow('') });
  const changes = await read<ChangeRow>(changeRowsSql, 'audit');
  const executions = await read<ExecutionRow>(
    `select id, started_at as "startedAt", actor, request_id as "requestId", workflow, status,
       (select name from workflow_definition as definition
        where definition.tenant_id = :tenantId
          and execution.workflow = :prefix::text || definition.id) as "definitionName"
     from execution where tenant_id = :tenantId and id = any(:ids::uuid[])`,
    'execution',
  );
  const grants = await read<GrantRow>(
    `select given.id, given.created_at as at, external_id as name, given.amount, wallet.currency
     from wallet_grant as given join wallet
       on wallet.tenant_id = given.tenant_id and wallet.id = given.wallet_id
     where given.tenant_id = :tenantId and given.id = any(:ids::uuid[])`,
    'grant',
  );
  const corrections = await read<CorrectionRow>(
    `select id, created_at as at, kind, reason, actor from usage_correction
     where tenant_id = :tenantId and id = any(:ids::uuid[])`,
    'correction',
  );
  const alerts = await read<AlertRow>(
    `select id, alert_id as "alertId", at, name, value, currency from alert_trigger
     where tenant_id = :tenantId and id = any(:ids::uuid[])`,
    'alert',
  );
  const entries = new Map([
    ...changes.map((row) => [row.id, presentChange(row)] as const),
    ...executions.map((row) => [row.id, presentExecution(row)] as const),
    ...grants.map((row) => [row.id, presentGrant(row)] as const),
    ...corrections.map((row) => [row.id, presentCorrection(row)] as const),
    ...alerts.map((row) => [row.id, presentAlert(row)] as const),
  ]);
  return places.flatMap(({ id }) => entries.get(id) ?? []);
}

/**
 * What happened to an account, newest first (docs/decisions/0382). 404: there is no such account.
 * 400: `from` is not before `to`.
 */
export async function listAccountTimeline(
  { db, tenantId }: Scope,
  accountId: string,
  { kind, ...range }: TimelineFilter,
  page: PageRequest,
): Promise<Listed<Entry>> {
  const { from = null, to = null } = readTimeRange({ from: range.from, to: range.to });
  const account = await Account.query(db.read)
    .forTenant(tenantId)
    .existing()
    .findById(accountId)
    .select('id');
  if (!account) throw missingAccount(accountId);
  const bindings: Record<string, SqlValue> = {
    tenantId,
    accountId,
    from,
    to,
    entities: kind === undefined ? [...kindOf.keys()] : [...entitiesOf[kind]],
    hasFlows: kind === undefined || kind === 'flow',
    hasGrants: kind === undefined || kind === 'grant',
    hasCorrections: kind === undefined || kind === 'correction',
    hasAlerts: kind === undefined || kind === 'alert',
  };
  const { limit, offset } = page;
  const places = await sqlRows<Place>(db.read, placesSql, {
    ...bindings,
    limit,
    offset,
    end: limit + offset,
  });
  const items = await readEntries(db.read, tenantId, places);
  const known = totalByPage(page, places.length);
  if (known !== undefined) return { items, total: known };
  const most = limit + offset + countedMax;
  const [counted] = await sqlRows<{ count: string }>(db.read, countSql, { ...bindings, most });
  return { items, total: Math.min(Number(counted?.count), most) };
}
