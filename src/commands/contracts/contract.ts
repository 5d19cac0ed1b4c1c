import { raw } from 'objection';
import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { Account } from '../../models/accounts/account.js';
import { Contract } from '../../models/contracts/contract.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { findLineWarnings } from '../../queries/catalog/card-warnings.js';
import { getContract, type ContractDto } from '../../queries/contracts/contract.js';
import { warnOfLineDates } from '../../queries/contracts/line-date-warnings.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/contracts/contract.js';
import type * as lineSchema from '../../schemas/contracts/contract-service.js';
import { deleteLinesOf, insertLines, lockServicesOf } from './contract-lines.js';
import { requireDateOrder } from '../rules/date-order.js';
import { withFormerLines, type ReplacingLine } from './former-line.js';
import { lockContract } from './lock-contract.js';
import { requireSameId } from '../rules/same-id.js';
import { requireAccountFits } from '../rules/size-limits.js';

type ContractCreate = Static<typeof schema.ContractCreate>;
type ContractUpdate = Static<typeof schema.ContractUpdate>;
/** The columns that a body gives; a contract without a number is given one. */
const contractColumns = (input: ContractUpdate) =>
  columnsOf(schema.ContractSummary, input, { number: undefined, masterAccountId: undefined });

type LineWrite = Static<typeof lineSchema.ContractLineWrite>;

/**
 * The line with its service id from `serviceId` or its alias. 400: neither is given, or they
 * differ.
 */
function readNestedLine(line: LineWrite, index: number, contractId: string | null): ReplacingLine {
  const { id, serviceId, templateId, ...input } = line;
  const at = `services[${index}].`;
  requireSameId(`${at}contractId`, input.contractId, contractId);
  const given = serviceId ?? templateId;
  if (given === undefined || given === null) {
    throw problem.validation(`'${at}serviceId' or templateId is required`, {
      field: `${at}serviceId`,
    });
  }
  requireSameId(`${at}templateId`, templateId, given);
  return { id, serviceId: given, input, at };
}

const readNestedLines = (lines: readonly LineWrite[], contractId: string | null): ReplacingLine[] =>
  lines.map((line, index) => readNestedLine(line, index, contractId));

/**
 * The account that a request names, held until the transaction ends; undefined when it names none.
 * 400: it names none that exists, or two.
 */
async function lockMasterAccount(
  trx: Knex.Transaction,
  scope: Scope,
  { masterAccountId, accountExtId }: ContractUpdate,
): Promise<Account | undefined> {
  const accounts = () => Account.query(trx).forTenant(scope.tenantId).existing().forUpdate();
  const names = [
    ['masterAccountId', masterAccountId, { id: masterAccountId ?? '' }],
    ['accountExtId', accountExtId, { externalId: accountExtId ?? '' }],
  ] as const;
  let named: Account | undefined;
  for (const [field, value, key] of names) {
    if (value === undefined || value === null) continue;
    const account = await accounts().findOne(key);
    if (!account) {
      throw problem.validation((nameOf) => `'${nameOf(field)}' names no account: ${value}`, {
        field,
        value,
      });
    }
    if (named && named.id !== account.id) {
      throw problem.validation(
        (nameOf) => `'${field}' names another account than ${nameOf('masterAccountId')}`,
        {
          field,
          value,
        },
      );
    }
    named = account;
  }
  return named;
}

/**
 * Inserts under the given number, or under `C-<epoch milliseconds>`. A generated number that is
 * taken is incremented, so that two contracts of one millisecond do not collide
 * (docs/decisions/0050).
 */
async function insertContract(
  trx: Knex.Transaction,
  scope: Scope,
  columns: Partial<Contract>,
  number: string | null,
): Promise<Contract> {
  const insert = (chosen: string) =>
    Contract.query(trx)
      .forTenant(scope.tenantId)
      .insert({ ...columns, number: chosen })
      .returning('*');
  if (number !== null) return insert(number);
  for (let at = scope.now().getTime(); ; at += 1) {
    const contract = await insert(`C-${at}`)
      .onConflict(raw('(tenant_id, number) where deleted_at is null'))
      .ignore();
    // Only a row that was inserted comes back from the database with its defaults.
    if ((contract as Partial<Contract>).createdAt !== undefined) return contract;
  }
}

/** Of so many lines of a contract dates are named, so that an answer stays short. */
const shownMax = 100;

const warnOfDates = (contract: ContractDto): string[] =>
  contract.services
    .flatMap((line) =>
      warnOfLineDates(contract, line).map((text) => `Contract service ${line.id}: ${text}`),
    )
    .slice(0, shownMax);

/** The contract with the warnings about its lines' dates, and about prices that were written with it. */
async function readWritten(
  trx: Knex.Transaction,
  { tenantId, now }: Scope,
  id: string,
  { services }: Pick<ContractUpdate, 'services'>,
): Promise<ContractDto> {
  const contract = await getContract(trx, tenantId, id);
  const ofPrices =
    services === undefined
      ? []
      : await findLineWarnings(trx, tenantId, contract.services, services ?? [], utcDate(now()));
  const warnings = [...warnOfDates(contract), ...ofPrices];
  return warnings.length === 0 ? contract : { ...contract, warnings };
}

/**
 * Creates a contract with its lines (spec/resources.md R61, R62). 400: the account or a service
 * does not exist, dates contradict each other, a nested part is not valid. 409: the number is
 * taken.
 */
export async function createContract(scope: Scope, input: ContractCreate): Promise<ContractDto> {
  requireDateOrder(input);
  const lines = readNestedLines(input.services ?? [], null);
  return scope.db.transaction(async (trx) => {
    await lockServicesOf(trx, scope, lines);
    const account = await lockMasterAccount(trx, scope, input);
    if (!account) {
      throw problem.validation(
        (nameOf) => `'${nameOf('masterAccountId')}' or accountExtId is required`,
        {
          field: 'masterAccountId',
        },
      );
    }
    const columns = { ...contractColumns(input), masterAccountId: account.id };
    const contract = await insertContract(trx, scope, columns, input.number ?? null);
    await insertLines(trx, scope, contract, lines);
    return readWritten(trx, scope, contract.id, input);
  });
}

/** 400: null is sent for what a contract cannot be without. */
function refuseCleared({ number, masterAccountId, accountExtId }: ContractUpdate): void {
  const field =
    number === null
      ? 'number'
      : masterAccountId === null && (accountExtId ?? null) === null
        ? 'masterAccountId'
        : undefined;
  if (field !== undefined) {
    throw problem.validation((nameOf) => `'${nameOf(field)}' is required and cannot be null`, {
      field,
      value: null,
    });
  }
}

/**
 * Changes what is given; `services`, when present, replaces all lines (spec/resources.md R63).
 * 400 as for `createContract`. 404: there is no such contract. 409: the number is taken.
 */
export async function updateContract(
  scope: Scope,
  id: string,
  input: ContractUpdate,
): Promise<ContractDto> {
  refuseCleared(input);
  return scope.db.transaction(async (trx) => {
    const contract = await lockContract(trx, scope, id);
    requireDateOrder(input, contract);
    const lines = readNestedLines(input.services ?? [], contract.id);
    await lockServicesOf(trx, scope, lines);
    const oldAccountId = contract.masterAccountId;
    const account = await lockMasterAccount(trx, scope, input);
    const masterAccountId = account?.id ?? oldAccountId;
    await contract
      .$query(trx)
      .forTenant(scope.tenantId)
      .patch({
        ...contractColumns(input),
        masterAccountId,
        updatedAt: scope.now(),
      });
    if (input.services !== undefined) {
      const kept = await withFormerLines(trx, scope, contract.id, lines);
      await deleteLinesOf(trx, scope, contract.id);
      await insertLines(trx, scope, contract, kept);
    } else if (masterAccountId !== oldAccountId) {
      await requireAccountFits(trx, scope, masterAccountId);
    }
    return readWritten(trx, scope, contract.id, input);
  });
}

/** Deletes a contract. 404: there is none. 409: it still has lines. */
export async function deleteContract(scope: Scope, id: string): Promise<void> {
  await scope.db.transaction(async (trx) => {
    const contract = await lockContract(trx, scope, id);
    const line = await ContractService.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .findOne({ contractId: contract.id });
    if (line) {
      throw problem.conflict(`The contract '${contract.number}' still has services.`);
    }
    await contract.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  });
}
