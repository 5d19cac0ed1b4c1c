import { raw } from 'objection';
import { problem } from '../../kernel/problem.js';
import type { ApprovalStatus } from '../../messages/definitions/approval.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { Service } from '../../models/catalog/service.js';
import { Contract } from '../../models/contracts/contract.js';
import { Draft } from '../../models/flows/draft.js';
import {
  Approval,
  ApprovalDecision,
  approvedRecords,
  findApprovalPlaces,
  recordStatus,
  type ApprovalKind,
  type ApprovalPlace,
} from '../../models/workflows/approval.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { fillPage } from '../lists/page-bytes.js';
import { changeOfRecord } from './approved-record.js';
import type { ApprovalDto } from '../../schemas/workflows/approval.js';

/** An upper bound of what an approval takes: its details, and reasons of as many people as may decide. */
const approvalBytesMax = 100_000;

type RecordKind = (typeof approvedRecords)[number];
type Decisions = ReadonlyMap<string, readonly ApprovalDecision[]>;

/** Who may decide where a workflow names no roles, and for records, as their flows have it. */
const rolesOfKind: Readonly<Record<ApprovalKind, readonly string[]>> = {
  account: ['OPERATOR', 'ADMIN'],
  contract: ['OPERATOR', 'ADMIN'],
  service: ['ADMIN'],
  workflow: ['OPERATOR', 'ADMIN'],
};

const titles: Readonly<Record<RecordKind, string>> = {
  account: 'Account',
  contract: 'Contract',
  service: 'Service',
};

/** What is read of a record to say how its approval stands. */
interface ApprovedRow {
  readonly id: string;
  readonly label: string | null;
  readonly accountId: string | null;
  readonly name: string | null;
  readonly approvalStatus: string;
  readonly approvedBy: string | null;
  readonly approvedAt: Date | null;
  readonly createdAt: Date;
}

const read = ['id', 'name', 'approvalStatus', 'approvedBy', 'approvedAt', 'createdAt'] as const;

/** Records of a kind by their ids. */
function readRecords(
  { db, tenantId }: Scope,
  kind: RecordKind,
  ids: readonly string[],
): Promise<ApprovedRow[]> {
  const of = (label: string, account: string) => [
    ...read,
    `${label} as label`,
    raw(`${account}::uuid`).as('accountId'),
  ];
  const query =
    kind === 'account'
      ? Account.query(db.read).select(...of('number', 'id'))
      : kind === 'contract'
        ? Contract.query(db.read).select(...of('number', 'master_account_id'))
        : Service.query(db.read).select(...of('code', 'null'));
  return query
    .forTenant(tenantId)
    .existing()
    .whereIn('id', [...ids])
    .execute() as unknown as Promise<ApprovedRow[]>;
}

/** Decisions as callers see them. */
export const presentDecisions = (decisions: readonly ApprovalDecision[] = []) =>
  decisions.map(({ decision, reason, decidedBy, decidedAt }) => ({
    decision,
    reason,
    decidedBy,
    decidedAt: decidedAt.toISOString(),
  }));

function presentRecord(kind: RecordKind, row: ApprovedRow, decisions: Decisions): ApprovalDto {
  const { id, label, name, accountId, approvalStatus, approvedBy, approvedAt, createdAt } = row;
  const status = recordStatus[approvalStatus] ?? 'pending';
  const own = decisions.get(id) ?? [];
  const isPending = status === 'pending';
  const decidedAt =
    status === 'approved' ? approvedAt : isPending ? null : (own.at(-1)?.decidedAt ?? null);
  return {
    id,
    status,
    kind,
    title: `${titles[kind]} ${[label, name].filter((part) => part !== null && part !== '').join(': ')}`,
    accountId,
    details: null,
    roles: [...rolesOfKind[kind]],
    quorum: 1,
    before: { approvalStatus: isPending ? approvalStatus : 'Draft' },
    after: {
      approvalStatus: isPending ? 'Approved' : approvalStatus,
      ...(status === 'approved' ? { approvedBy } : {}),
    },
    decisions: presentDecisions(own),
    execution: null,
    createdAt: createdAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}

/** The object of this name in the details of a workflow's approval. */
const partOf = (details: Approval['details'], name: string): Record<string, unknown> | null => {
  const part = details?.[name];
  return typeof part === 'object' && part !== null && !Array.isArray(part)
    ? (part as Record<string, unknown>)
    : null;
};

/** The approval of a workflow as callers see it. */
export function presentApproval(
  row: Approval,
  decisions: readonly ApprovalDecision[],
): ApprovalDto {
  const { id, status, title, details, quorum, createdAt, decidedAt } = row;
  const { definitionId, workflowName, executionId, task, startedBy, notStarter } = row;
  return {
    id,
    status,
    kind: 'workflow',
    title,
    accountId: null,
    details,
    roles: [...(row.roles ?? rolesOfKind.workflow)],
    quorum,
    before: partOf(details, 'before'),
    after: partOf(details, 'after'),
    decisions: presentDecisions(decisions),
    execution: {
      workflowId: definitionId,
      workflowName,
      executionId,
      task,
      startedBy,
      notStarter,
      dueAt: row.dueAt.toISOString(),
      onTimeout: row.onTimeout,
    },
    createdAt: createdAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}

/** The approvals at these places, in their order. */
async function readApprovals(
  scope: Scope,
  places: readonly ApprovalPlace[],
): Promise<ApprovalDto[]> {
  const { db, tenantId } = scope;
  const idsOf = (kind: ApprovalKind): string[] =>
    places.filter((each) => each.kind === kind).map(({ id }) => id);
  const decisions = await ApprovalDecision.of(
    db.read,
    tenantId,
    places.map(({ id }) => id),
  );
  const found = new Map<string, ApprovalDto>();
  const own = idsOf('workflow');
  if (own.length > 0) {
    for (const row of await Approval.query(db.read).forTenant(tenantId).whereIn('id', own)) {
      found.set(row.id, presentApproval(row, decisions.get(row.id) ?? []));
    }
  }
  for (const kind of approvedRecords) {
    const ids = idsOf(kind);
    if (ids.length === 0) continue;
    for (const row of await readRecords(scope, kind, ids)) {
      found.set(row.id, presentRecord(kind, row, decisions));
    }
  }
  return places.flatMap(({ id }) => found.get(id) ?? []);
}

/** One page of what waits for approval and what was decided, the newest first. */
export async function listApprovals(
  scope: Scope,
  query: PageRequest & {
    readonly kind?: ApprovalKind | undefined;
    readonly status?: ApprovalStatus | undefined;
  },
): Promise<Listed<ApprovalDto>> {
  const { kind, status, limit, offset } = query;
  const asked = { kind, status, limit, offset };
  const { places, total } = await findApprovalPlaces(scope.db.read, scope.tenantId, asked);
  const weighed = places.map((place) => ({ ...place, weight: approvalBytesMax }));
  const { rows, isCut } = await fillPage(
    weighed,
    (portion) => readApprovals(scope, portion),
    (approval) => Buffer.byteLength(JSON.stringify(approval)),
  );
  return { items: rows, total, isCut };
}

/** An approval by its id. 404: there is none; the draft of a record is none yet. */
export async function getApproval(scope: Scope, id: string): Promise<ApprovalDto> {
  const [found] = await readApprovals(scope, [
    { id, kind: 'workflow' },
    ...approvedRecords.map((kind) => ({ id, kind })),
  ]);
  const isDraft =
    found !== undefined &&
    found.kind !== 'workflow' &&
    (await Draft.query(scope.db.read)
      .forTenant(scope.tenantId)
      .findOne({ entity: found.kind, entityId: id })) !== undefined;
  if (!found || isDraft) throw problem.notFound(`There is no approval '${id}'.`);
  return found;
}

/** The same with all that approving a record would put in force. */
export async function getApprovalWhole(scope: Scope, id: string): Promise<ApprovalDto> {
  const found = await getApproval(scope, id);
  const { kind, status } = found;
  if (kind === 'workflow' || status !== 'pending') return found;
  return { ...found, ...(await changeOfRecord(scope, kind, id)) };
}
