import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import { Contract } from '../../models/contracts/contract.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { missingLine } from '../../queries/contracts/contract-service.js';
import { missingContract } from '../../queries/contracts/require-contract.js';

/*
 * The lock order of all commands is contract, line, service, account. It rules out deadlocks.
 */

/**
 * Locks the existing contract until the transaction ends; commands that change a contract or one of
 * its lines lock the contract first. 404: there is none.
 */
export async function lockContract(
  trx: Knex.Transaction,
  scope: Scope,
  id: string,
): Promise<Contract> {
  const contract = await Contract.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .findById(id)
    .forUpdate();
  if (!contract) throw missingContract(id);
  return contract;
}

/** A line and its contract, both held until the transaction ends. */
export interface LockedLine {
  readonly contract: Contract;
  readonly line: ContractService;
}

/** How a request names a line: by its own id, and by its contract where the path has that too. */
export interface LineKey {
  readonly contractServiceId: string;
  readonly contractId?: string;
}

/** The existing line and its contract, held until the transaction ends. 404: there is none. */
export async function lockLine(
  trx: Knex.Transaction,
  scope: Scope,
  { contractServiceId: id, contractId }: LineKey,
): Promise<LockedLine> {
  const lines = () => ContractService.query(trx).forTenant(scope.tenantId).existing();
  const ownerId = contractId ?? (await lines().findById(id))?.contractId;
  if (ownerId === undefined) throw missingLine(id);
  const contract = await lockContract(trx, scope, ownerId);
  const line = await lines().findOne({ id, contractId: contract.id }).forUpdate();
  if (!line) throw missingLine(id);
  return { contract, line };
}
