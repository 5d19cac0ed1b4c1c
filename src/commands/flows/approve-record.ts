import type { Knex } from 'knex';
import { problem, type Problem } from '../../kernel/problem.js';
import { within, type Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { Account } from '../../models/accounts/account.js';
import { Contract } from '../../models/contracts/contract.js';
import { Draft } from '../../models/flows/draft.js';
import { Payment } from '../../models/payments/payment.js';
import { Service } from '../../models/catalog/service.js';
import type { ApprovableRecord } from '../../models/db/tenant-model.js';
import { getAccount } from '../../queries/accounts/account.js';
import { getContract } from '../../queries/contracts/contract.js';
import { getService } from '../../queries/catalog/service.js';
import type { FlowEntity } from '../../schemas/flows/flow.js';
import { lockContract } from '../contracts/lock-contract.js';
import { lockService } from '../catalog/lock-service.js';

/** The records that have an approvalStatus. */
export const approvable: Readonly<Record<FlowEntity, typeof ApprovableRecord>> = {
  account: Account,
  contract: Contract,
  service: Service,
  payment: Payment,
};

/** Refuses a record that is approved, or whose draft is not completed. 409. */
async function requireApprovable(
  trx: Knex.Transaction,
  scope: Scope,
  entity: FlowEntity,
  record: ApprovableRecord,
): Promise<void> {
  if (record.approvalStatus === 'Approved') {
    throw problem.conflict(`The ${entity} is approved already.`, { field: 'approvalStatus' });
  }
  const draft = await Draft.query(trx)
    .forTenant(scope.tenantId)
    .findOne({ entity, entityId: record.id });
  if (draft) {
    throw problem.conflict(
      `The ${entity} is a draft: call its flow without draftMode to complete it first.`,
      { field: 'draft' },
    );
  }
}

const inactive = (entity: FlowEntity): Problem =>
  problem.conflict(`The ${entity} is Inactive and cannot be approved.`, { field: 'status' });

const approval = (scope: Scope) => ({
  approvalStatus: 'Approved',
  approvedBy: scope.actor,
  approvedAt: scope.now(),
  updatedAt: scope.now(),
});

/** Approves an account. 404: there is none. 409: it is approved, a draft or Inactive. */
export async function approveAccount(scope: Scope, id: string) {
  return scope.db.transaction(async (trx) => {
    const { tenantId } = scope;
    const account = await Account.query(trx)
      .forTenant(tenantId)
      .existing()
      .findOne({ id })
      .forUpdate();
    if (!account) throw problem.notFound(`There is no account '${id}'.`);
    await requireApprovable(trx, scope, 'account', account);
    if (account.status !== 'Active') throw inactive('account');
    await account.$query(trx).forTenant(tenantId).patch(approval(scope));
    return getAccount(trx, tenantId, id);
  });
}

/** Approves a contract. 404: there is none. 409: it is approved, a draft, or its account Inactive. */
export async function approveContract(scope: Scope, id: string) {
  return scope.db.transaction(async (trx) => {
    const { tenantId } = scope;
    const contract = await lockContract(trx, scope, id);
    await requireApprovable(trx, scope, 'contract', contract);
    const account = await Account.query(trx)
      .forTenant(tenantId)
      .findOne({ id: contract.masterAccountId });
    if (account?.status !== 'Active') throw inactive('account');
    await contract.$query(trx).forTenant(tenantId).patch(approval(scope));
    return getContract(trx, tenantId, id);
  });
}

/** Approves a service. 404: there is none. 409: it is approved, a draft or Inactive. */
export async function approveService(scope: Scope, id: string) {
  return scope.db.transaction(async (trx) => {
    const { tenantId } = scope;
    const service = await lockService(trx, scope, id);
    await requireApprovable(trx, scope, 'service', service);
    if (service.serviceStatus !== 'Active') throw inactive('service');
    await service.$query(trx).forTenant(tenantId).patch(approval(scope));
    return getService(trx, tenantId, id, utcDate(scope.now()));
  });
}

/** A record whose approval is decided. */
interface ApprovedKey {
  readonly entity: 'account' | 'contract' | 'service';
  readonly id: string;
}

/** Holds a record until the transaction ends. 409: its approval is decided. */
async function holdUndecided(
  trx: Knex.Transaction,
  { tenantId }: Scope,
  { entity, id }: ApprovedKey,
): Promise<ApprovableRecord> {
  const record = await approvable[entity]
    .query(trx)
    .forTenant(tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!record) throw problem.notFound(`There is no ${entity} '${id}'.`);
  const { approvalStatus } = record;
  if (approvalStatus === 'Approved' || approvalStatus === 'Rejected') {
    throw problem.conflict(`The ${entity} is ${approvalStatus} already.`, {
      field: 'approvalStatus',
    });
  }
  return record;
}

const approvals = { account: approveAccount, contract: approveContract, service: approveService };

/** Approves a record that is not decided. 404: there is none. 409: it is decided, or is Inactive. */
export async function approveRecord(scope: Scope, key: ApprovedKey): Promise<void> {
  await scope.db.transaction(async (trx) => {
    await holdUndecided(trx, scope, key);
    await approvals[key.entity](within(scope, trx), key.id);
  });
}

/** Rejects a record that is not decided. 404: there is none. 409: it is decided, or a draft. */
export async function rejectRecord(scope: Scope, key: ApprovedKey): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const record = await holdUndecided(trx, scope, key);
    await requireApprovable(trx, scope, key.entity, record);
    await record
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({ approvalStatus: 'Rejected', updatedAt: scope.now() });
  });
}
