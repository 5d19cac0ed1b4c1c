import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { contentId } from '../../kernel/id.js';
import { Decimal } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { RatedTransaction } from '../../models/usage/rated-transaction.js';
import type {
  ChargedFacts,
  RatedDimension as ChargeDimension,
  RatedTransaction as Charge,
} from '../../rating/index.js';
import type { ArchiveFiles } from '../../messages/ageing/usage-archive.js';
import {
  listDroppedMonths,
  monthsOfDays,
  refuseArchived,
  type DroppedMonth,
} from '../../models/usage/finding/dropped-month.js';
import { searchCharges } from '../../models/usage/usage-search.js';
import { UsageConsumer } from '../../models/usage/log-offset.js';
import { UsageDay } from '../../models/usage/usage-day.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/usage/rated-transaction.js';
import { readPage, totalByPage } from '../lists/listing.js';
import { answerFromArchive, eventOfCharge } from './archive/answer-from-archive.js';
import { searchSql } from '../lists/search.js';

type RatedTransactionDto = Static<typeof schema.RatedTransaction>;
export type RatedTransactionSummaryDto = Static<typeof schema.RatedTransactionSummary>;
type RatedDimensionDto = Static<typeof schema.RatedDimension>;

export interface RatedTransactionFilter {
  readonly q?: string;
  readonly accountId?: string;
  readonly fromDate?: string | undefined;
  readonly toDate?: string | undefined;
}

/** Account numbers by account id; also of accounts that were deleted since. */
export type AccountNumbers = ReadonlyMap<string, string | null>;

export async function findAccountNumbers(
  db: Knex,
  tenantId: string,
  accountIds: readonly string[],
): Promise<AccountNumbers> {
  const ids = [...new Set(accountIds)];
  if (ids.length === 0) return new Map();
  const accounts = await Account.query(db)
    .forTenant(tenantId)
    .select('id', 'number')
    .whereIn('id', ids);
  return new Map(accounts.map(({ id, number }) => [id, number]));
}

/** Decimals as text, as stored, or as Decimal, as the rating engine returns them. */
type Undecoded<T, N extends keyof T> = Omit<T, N> & { readonly [K in N]: string | Decimal };

/** A stored transaction, or one that a simulation would store. */
type Charged = Undecoded<
  Omit<RatedTransactionSummaryDto, 'accountNumber' | 'convCurrency' | 'ratedAt'>,
  'amount' | 'discount' | 'taxAmount' | 'quantity'
> & { readonly ratedAt: Date | null };

type ChargedRow = Undecoded<
  Pick<
    RatedDimensionDto,
    | 'transactionId'
    | 'dimensionId'
    | 'dimensionName'
    | 'priceMethodType'
    | 'volume'
    | 'rate'
    | 'calcAmount'
  >,
  'volume' | 'rate' | 'calcAmount'
> & { readonly position: number };

/** The fields of a transaction that its stored row and its DTO have in common. */
export function chargeOf({ event, owner }: ChargedFacts, charge: Charge) {
  return {
    externalTranId: event.externalTransactionId,
    transactionDate: event.date,
    accountId: charge.billedAccountId,
    masterAccountId: owner.accountId,
    serviceId: event.serviceId,
    serviceInstanceId: event.serviceInstanceId ?? owner.line?.serviceInstanceId ?? null,
    contractId: owner.line?.contractId ?? null,
    amount: charge.amount,
    quantity: charge.quantity,
    currency: charge.currency,
    usageType: charge.usageType,
    chargeType: charge.chargeType,
  };
}

/** The same for a dimension of a transaction. */
export function dimensionOf(dimension: ChargeDimension) {
  return {
    dimensionId: dimension.attributeId,
    dimensionName: dimension.attributeName,
    volume: dimension.volume,
    rate: dimension.rate,
    calcAmount: dimension.calcAmount,
    priceMethodType: dimension.priceMethod,
  };
}

function presentSummary(transaction: Charged, numbers: AccountNumbers): RatedTransactionSummaryDto {
  const { id, externalTranId, transactionDate, accountId, masterAccountId } = transaction;
  const { serviceId, serviceInstanceId, contractId, currency, usageType, chargeType, billed } =
    transaction;
  const { ratedAt, reverses, correctionId } = transaction;
  return {
    id,
    externalTranId,
    transactionDate,
    accountId,
    accountNumber: numbers.get(accountId) ?? null,
    masterAccountId,
    serviceId,
    serviceInstanceId,
    contractId,
    amount: new Decimal(transaction.amount),
    discount: new Decimal(transaction.discount),
    taxAmount: new Decimal(transaction.taxAmount),
    quantity: new Decimal(transaction.quantity),
    currency,
    convCurrency: currency,
    usageType,
    chargeType,
    billed,
    ratedAt: ratedAt?.toISOString() ?? null,
    reverses,
    correctionId,
  };
}

/** What a usage event makes is for its day, whole. */
function presentDimension(
  { currency, chargeType, transactionDate }: Charged,
  dimension: ChargedRow,
): RatedDimensionDto {
  const { transactionId, position, dimensionId, dimensionName, priceMethodType } = dimension;
  return {
    id: transactionId === null ? null : contentId(`${transactionId}/${position}`),
    transactionId,
    dimensionId,
    dimensionName,
    volume: new Decimal(dimension.volume),
    rate: new Decimal(dimension.rate),
    calcAmount: new Decimal(dimension.calcAmount),
    currency,
    priceMethodType,
    billStartDate: transactionDate,
    billEndDate: transactionDate,
    isProrated: false,
    itemType: chargeType,
  };
}

/** The whole transaction; its dimensions must have been fetched. */
export function presentRatedTransaction(
  transaction: Charged & { readonly dimensions: readonly ChargedRow[] },
  numbers: AccountNumbers,
): RatedTransactionDto {
  return {
    ...presentSummary(transaction, numbers),
    dimensions: transaction.dimensions.map((row) => presentDimension(transaction, row)),
  };
}

function conditionOf(column: string, text: string): { sql: string; bindings: string[] } {
  const bindings: string[] = [];
  const sql = searchSql([column], text, (pattern) => {
    bindings.push(pattern);
    return '?';
  });
  return { sql: `(${sql})`, bindings };
}

/** The latest transaction date first (spec/resources.md R85). 400 when fromDate is after toDate. */
export async function listRatedTransactions(
  scope: Scope,
  page: PageRequest,
  filter: RatedTransactionFilter,
): Promise<Listed<RatedTransactionSummaryDto>> {
  const { q, accountId, fromDate, toDate } = filter;
  if (fromDate !== undefined && toDate !== undefined && fromDate > toDate) {
    const order = `'fromDate' must not be after 'toDate': '${fromDate}' is after '${toDate}'`;
    throw problem.validation(order, { field: 'fromDate', value: fromDate });
  }
  const { tenantId, db, embeddedAccountId } = scope;
  const query = RatedTransaction.query(db.read).forTenant(tenantId);
  if (accountId !== undefined) void query.where({ accountId });
  if (fromDate !== undefined) void query.where('transactionDate', '>=', fromDate);
  if (toDate !== undefined) void query.where('transactionDate', '<=', toDate);
  if (q !== undefined && q !== '') {
    // Of others' usage the ids of events are not told (spec/beyond.md R455), so they find nothing.
    if (embeddedAccountId !== undefined) void query.where({ masterAccountId: embeddedAccountId });
    const ids = await searchCharges(db.read, tenantId, {
      // Groups are JSON.
      ofGroup: conditionOf('external_ids', JSON.stringify(q).slice(1, -1)),
      ofId: conditionOf('id', q),
    });
    const { sql, bindings } = conditionOf('external_tran_id', q);
    void (ids ? query.whereRaw('id = any(?::uuid[])', [[...ids]]) : query.whereRaw(sql, bindings));
  }
  const ordered = query.clone().orderBy([
    { column: 'transactionDate', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);
  const archived = await findArchived(scope, filter);
  const rows = await readPage(ordered, page);
  const last = rows.length === page.limit ? rows.at(-1)?.transactionDate : undefined;
  refuseArchived(monthsOfDays(archived, { from: last }));
  const isTallied = (q ?? '') === '' && accountId === undefined;
  const total =
    totalByPage(page, rows.length) ??
    (isTallied
      ? await countTransactions(db.read, tenantId, { fromDate, toDate })
      : await query.resultSize());
  await RatedTransaction.findBilled(db.read, tenantId, rows);
  await RatedTransaction.readKnown(db.read, tenantId, rows);
  const numbers = await findAccountNumbers(
    db.read,
    tenantId,
    rows.map((row) => row.accountId),
  );
  return { items: rows.map((row) => presentSummary(row, numbers)), total };
}

/**
 * The dropped months that charges of a filter may be in. 409: their number would be counted from rows that
 * are in the archive.
 */
async function findArchived(
  { db, tenantId }: Scope,
  { q, accountId, fromDate, toDate }: RatedTransactionFilter,
): Promise<readonly DroppedMonth[]> {
  const months = await listDroppedMonths(db.read, tenantId);
  const touched = monthsOfDays(months, { from: fromDate, last: toDate });
  if (accountId !== undefined || (q ?? '') !== '') refuseArchived(touched);
  return touched;
}

/** Counts from the daily tallies: counting millions of rows for each page would be slow. */
async function countTransactions(
  db: Knex,
  tenantId: string,
  { fromDate, toDate }: Pick<RatedTransactionFilter, 'fromDate' | 'toDate'>,
): Promise<number> {
  if (fromDate !== undefined || toDate !== undefined) {
    return UsageDay.total(db, tenantId, ['transaction'], { from: fromDate, last: toDate });
  }
  const tallies = await UsageConsumer.query(db).forTenant(tenantId).select('transactions');
  return tallies.reduce((total, { transactions }) => total + Number(transactions), 0);
}

/** A transaction with its dimensions (spec/resources.md R86). 404 when there is none. */
export async function getRatedTransaction(
  scope: Scope,
  archive: ArchiveFiles | undefined,
  id: string,
): Promise<RatedTransactionDto> {
  const read = (inside: Scope) => readTransaction(inside, id);
  return (await answerFromArchive(scope, archive, [eventOfCharge(id)], read)) ?? read(scope);
}

async function readTransaction({ tenantId, db }: Scope, id: string): Promise<RatedTransactionDto> {
  const found = await RatedTransaction.query(db.read).forTenant(tenantId).findById(id);
  if (!found) throw problem.notFound(`There is no rated transaction '${id}'.`);
  await RatedTransaction.readDimensions(db.read, tenantId, [found]);
  await RatedTransaction.findBilled(db.read, tenantId, [found]);
  await RatedTransaction.readKnown(db.read, tenantId, [found]);
  const numbers = await findAccountNumbers(db.read, tenantId, [found.accountId]);
  return presentRatedTransaction(found, numbers);
}
