import type { Knex } from 'knex';
import type { ApprovalStatus, Decision, OnTimeout } from '../../messages/definitions/approval.js';
import { TenantModel } from '../db/tenant-model.js';
import { sqlRows } from '../db/sql-rows.js';

export type ApprovalKind = 'account' | 'contract' | 'service' | 'workflow';

/** An approval that a workflow of the tenant waits for. */
export class Approval extends TenantModel {
  static override tableName = 'approval';
  static override jsonAttributes = ['details'];

  declare definitionId: string;
  declare workflowName: string;
  declare executionId: string;
  /** Of the execution in Temporal; null: before that was kept. */
  declare workflowId: string | null;
  /** Which run of a task of the execution waits. */
  declare seq: number | null;
  /** JSON pointer of the task in its definition. */
  declare task: string;
  declare title: string;
  declare details: Readonly<Record<string, unknown>> | null;
  /** Of which one is needed, exactly; null: OPERATOR or ADMIN. */
  declare roles: string[] | null;
  /** How many different people have to approve. */
  declare quorum: number;
  declare notStarter: boolean;
  declare startedBy: string;
  declare onTimeout: OnTimeout;
  declare dueAt: Date;
  declare status: ApprovalStatus;
  declare createdAt: Date;
  declare decidedAt: Date | null;

  /** Ends what executions that have ended waited for. */
  static async closeOf(
    trx: Knex.Transaction,
    tenantId: string,
    executionIds: readonly string[],
    at: Date,
  ): Promise<void> {
    await Approval.query(trx)
      .forTenant(tenantId)
      .whereIn('executionId', [...executionIds])
      .where({ status: 'pending' })
      .patch({ status: 'canceled', decidedAt: at });
  }

  /** Those of some runs of tasks of an execution, by the number of the run. */
  static async ofTasks(
    db: Knex,
    tenantId: string,
    executionId: string,
    seqs: readonly number[],
  ): Promise<ReadonlyMap<number, Approval>> {
    const found = await Approval.query(db)
      .forTenant(tenantId)
      .where({ executionId })
      .whereIn('seq', [...seqs]);
    return new Map(found.map((each) => [each.seq ?? 0, each]));
  }

  /** Held until the transaction ends; undefined: there is none. */
  static async lock(
    trx: Knex.Transaction,
    tenantId: string,
    id: string,
  ): Promise<Approval | undefined> {
    return Approval.query(trx).forTenant(tenantId).findOne({ id }).forUpdate();
  }
}

/** What one person has decided, of an approval or of a record by the record's id. */
export class ApprovalDecision extends TenantModel {
  static override tableName = 'approval_decision';

  declare approvalId: string;
  declare decision: Decision;
  declare reason: string | null;
  declare decidedBy: string;
  declare decidedAt: Date;

  /** The decisions of these approvals, the oldest first. */
  static async of(
    db: Knex,
    tenantId: string,
    approvalIds: readonly string[],
  ): Promise<ReadonlyMap<string, ApprovalDecision[]>> {
    const found = await ApprovalDecision.query(db)
      .forTenant(tenantId)
      .whereIn('approvalId', [...approvalIds])
      .orderBy(['decidedAt', 'id']);
    const decisions = new Map<string, ApprovalDecision[]>();
    for (const each of found) {
      decisions.set(each.approvalId, [...(decisions.get(each.approvalId) ?? []), each]);
    }
    return decisions;
  }
}

/** Where an approval stands in the list of all. */
export interface ApprovalPlace {
  readonly id: string;
  readonly kind: ApprovalKind;
}

/** The statuses of records, as their approvals have them. */
export const recordStatus: Readonly<Record<string, ApprovalStatus>> = {
  Draft: 'pending',
  'Pending Approval': 'pending',
  Approved: 'approved',
  Rejected: 'rejected',
};

/** Records that wait for approval as soon as their flow is completed. */
export const approvedRecords = ['account', 'contract', 'service'] as const;

/** The conditions of a list, each answered by the order of one index. */
function conditionsOf(
  kind: ApprovalKind | undefined,
  status: ApprovalStatus | undefined,
): { kind: ApprovalKind; sql: string }[] {
  const isWanted = (one: ApprovalKind): boolean => kind === undefined || kind === one;
  const statuses = Object.entries(recordStatus).filter(
    ([, each]) => status === undefined || each === status,
  );
  const ofRecords = approvedRecords.filter(isWanted).flatMap((table) =>
    statuses.map(([stored]) => ({
      kind: table,
      sql: `from ${table} as t where t.tenant_id = :tenantId and t.deleted_at is null
        and t.approval_status = '${stored}' and not exists (select 1 from draft
          where tenant_id = t.tenant_id and entity = '${table}' and entity_id = t.id)`,
    })),
  );
  if (!isWanted('workflow')) return ofRecords;
  const own = status === undefined ? '' : 'and t.status = :status';
  return [
    { kind: 'workflow', sql: `from approval as t where t.tenant_id = :tenantId ${own}` },
    ...ofRecords,
  ];
}

/** Which approvals a page of the list shows, the newest first, and how many there are. */
export async function findApprovalPlaces(
  db: Knex,
  tenantId: string,
  asked: {
    readonly kind: ApprovalKind | undefined;
    readonly status: ApprovalStatus | undefined;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<{ readonly places: ApprovalPlace[]; readonly total: number }> {
  const { kind, status, limit, offset } = asked;
  const parts = conditionsOf(kind, status);
  const bindings = { tenantId, limit, offset, most: limit + offset, ...(status ? { status } : {}) };
  const places =
    parts.length === 0
      ? []
      : await sqlRows<ApprovalPlace>(
          db,
          `select id, kind from (${parts
            .map(
              (part) => `(select t.id, '${part.kind}' as kind, t.created_at ${part.sql}
                order by t.created_at desc, t.id desc limit :most)`,
            )
            .join(' union all ')}) as found
           order by created_at desc, id desc limit :limit offset :offset`,
          bindings,
        );
  if (places.length < limit && (places.length > 0 || offset === 0)) {
    return { places, total: offset + places.length };
  }
  const [counted] = await sqlRows<{ total: number }>(
    db,
    `select (${parts.map((part) => `(select count(*) ${part.sql})`).join(' + ') || '0'})::float8 as total`,
    { tenantId, ...(status ? { status } : {}) },
  );
  return { places, total: counted?.total ?? 0 };
}
