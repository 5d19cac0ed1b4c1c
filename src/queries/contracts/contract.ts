import type { Knex } from 'knex';
import type { Static } from 'typebox';
import type { Scope } from '../../kernel/scope.js';
import { Contract } from '../../models/contracts/contract.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/contracts/contract.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { loadLineSummaries } from './contract-service.js';
import { listRecords } from '../lists/resource-list.js';
import { missingContract } from './require-contract.js';

type ContractSummaryDto = Static<typeof schema.ContractSummary>;
export type ContractDto = Static<typeof schema.Contract>;

/** The contract as a row shows it. */
export const presentContractSummary = presenterOf(schema.ContractSummary);

const contractList = {
  model: Contract,
  orderBy: 'number, id',
  searched: ['name', 'number'],
  filters: { accountId: 'master_account_id =' },
};

/** One page of contracts by number; `q` is part of the name or number. */
export async function listContracts(
  scope: Scope,
  page: PageRequest,
  q: string | undefined,
  filter: { readonly accountId?: string } = {},
): Promise<Listed<ContractSummaryDto>> {
  const { items, total } = await listRecords(contractList, scope, { page, q, filter });
  return { items: items.map(presentContractSummary), total };
}

/** The contract with its lines in short. 404: there is none. */
export async function getContract(db: Knex, tenantId: string, id: string): Promise<ContractDto> {
  const contract = await Contract.query(db).forTenant(tenantId).existing().findById(id);
  if (!contract) throw missingContract(id);
  const services = await loadLineSummaries(db, tenantId, contract.id);
  return { ...presentContractSummary(contract), services };
}
