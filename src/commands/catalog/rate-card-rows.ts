import type { Knex } from 'knex';
import { defined } from '../../kernel/defined.js';
import { Portions } from '../../kernel/portions.js';
import { problem, type Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { Attribute, type CatalogOwner } from '../../models/catalog/attribute.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import type { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { findPriceMethod } from '../../rating/index.js';
import type { RateCardRowWrite, RateCardWrite } from '../../schemas/catalog/rate-card.js';
import type { ReplacedNames } from './attribute.js';

export interface RateCardOptions {
  /** Where the cards are in the request, for messages: `rateCards`, or nothing for a single card. */
  readonly field?: string;
  /** What the request calls the rows, for messages: `rows` unless it says otherwise. */
  readonly rowsField?: string;
  /**
   * Names by the old ids of attributes that the same request replaced: a row with an old id prices
   * the new attribute of that name.
   */
  readonly replaced?: ReplacedNames;
}

/** The columns of a row but for the card that it belongs to. */
export type RowColumns = Pick<
  RateCardRow,
  | 'position'
  | 'attributeId'
  | 'attributeName'
  | 'label'
  | 'description'
  | 'dynamicDescription'
  | 'taxCode'
  | 'usageType'
  | 'billingAccountId'
  | 'priceMethod'
  | 'rates'
  | 'attributeValues'
>;

export interface ResolvedCard {
  readonly currency: string;
  readonly rows: readonly RowColumns[];
}

/**
 * The attributes that rows may price; the owner's own attribute takes precedence over another of
 * the same name.
 */
export interface PriceableAttributes {
  readonly byId: ReadonlyMap<string, Attribute>;
  readonly byName: ReadonlyMap<string, Attribute>;
  readonly replaced: ReplacedNames;
}

/**
 * The attributes that the rows of an owner's cards may price: its own priceable attributes, and for
 * a contract line also those of its service. The line's own attribute takes precedence over the
 * service's of the same name.
 */
export async function loadPriceable(
  trx: Knex.Transaction,
  tenantId: string,
  owner: CatalogOwner,
  replaced: ReplacedNames = new Map(),
): Promise<PriceableAttributes> {
  const attributes = await Attribute.query(trx)
    .forTenant(tenantId)
    .existing()
    .where({ kind: 'PRICEABLE' })
    .where((group) => {
      void group.where(owner);
      if ('contractServiceId' in owner) {
        const serviceOfLine = ContractService.query(trx)
          .forTenant(tenantId)
          .where({ id: owner.contractServiceId })
          .select('contract_service.serviceId');
        void group.orWhere('serviceId', serviceOfLine);
      }
    });
  const ownLast = attributes.sort(
    (a, b) => Number(a.contractServiceId !== null) - Number(b.contractServiceId !== null),
  );
  return {
    byId: new Map(attributes.map((attribute) => [attribute.id, attribute])),
    byName: new Map(ownLast.map((attribute) => [attribute.name, attribute])),
    replaced,
  };
}

const fault = (field: string, text: string, value?: unknown): Problem =>
  problem.validation(`'${field}' ${text}`, { field, ...defined({ value }) });

/** The attribute that a row prices; 400 when it names none, or two. */
function findAttribute(
  row: RateCardRowWrite,
  at: string,
  { byId, byName, replaced }: PriceableAttributes,
): Attribute {
  const { priceDimId, priceDimName: name } = row;
  const hasName = name !== undefined && name !== null;
  if (priceDimId === undefined || priceDimId === null) {
    if (!hasName) throw fault(`${at}.priceDimName`, 'or priceDimId is required');
    const named = byName.get(name);
    if (!named) throw fault(`${at}.priceDimName`, `names no priceable attribute: ${name}`, name);
    return named;
  }
  const id = priceDimId;
  const attribute = byId.get(id) ?? byName.get(replaced.get(id) ?? '');
  if (!attribute) {
    const former = replaced.get(id);
    const hint = former === undefined ? '' : ` (it named '${former}', which this request removes)`;
    const text = `names no priceable attribute${hint}: ${priceDimId}`;
    throw fault(`${at}.priceDimId`, text, priceDimId);
  }
  if (hasName && attribute.name !== name) {
    const text = `'${name}' does not agree with priceDimId, which names '${attribute.name}'`;
    throw fault(`${at}.priceDimName`, text, name);
  }
  return attribute;
}

/** The rate fields of the row's price method; 400 when they contradict each other. */
function readRates(row: RateCardRowWrite, at: string): object {
  const method = findPriceMethod(row.priceMethod);
  if (!method) throw fault(`${at}.priceMethod`, 'is not a price method', row.priceMethod);
  const given = new Map<string, unknown>(Object.entries(row));
  const rates = Object.fromEntries(
    Object.keys(method.rates.properties)
      .map((name) => [name, given.get(name)] as const)
      .filter(([, value]) => value !== undefined && value !== null),
  );
  const [first] = method.check(rates);
  if (first !== undefined) throw problem.validation(`'${at}': ${first}`, { field: at });
  return rates;
}

function readAttributeValues(row: RateCardRowWrite, at: string): RowColumns['attributeValues'] {
  const values = row.attributeValues ?? [];
  const names = new Set<string>();
  for (const [index, { attributeName }] of values.entries()) {
    if (names.has(attributeName)) {
      const field = `${at}.attributeValues[${index}].attributeName`;
      throw fault(field, `names '${attributeName}' a second time`, attributeName);
    }
    names.add(attributeName);
  }
  return values;
}

function resolveRow(
  row: RateCardRowWrite,
  position: number,
  at: string,
  attributes: PriceableAttributes,
): RowColumns {
  const attribute = findAttribute(row, at, attributes);
  return {
    position,
    attributeId: attribute.id,
    attributeName: attribute.name,
    label: row.label,
    description: row.description ?? null,
    dynamicDescription: row.dynamicDescription ?? null,
    taxCode: row.taxCode ?? null,
    usageType: row.usageType ?? 'Charge',
    billingAccountId: row.billingAccountId ?? null,
    priceMethod: row.priceMethod,
    rates: readRates(row, at),
    attributeValues: readAttributeValues(row, at),
  };
}

/** 400: a row names a billing account that the tenant does not have. */
async function requireBillingAccounts(
  trx: Knex.Transaction,
  tenantId: string,
  rows: readonly { readonly at: string; readonly row: RateCardRowWrite }[],
): Promise<void> {
  const ids = rows.flatMap(({ row }) => row.billingAccountId ?? []);
  if (ids.length === 0) return;
  const accounts = await Account.query(trx)
    .forTenant(tenantId)
    .existing()
    .whereRaw('account.id = any(?::uuid[])', [[...new Set(ids)]])
    .select('id');
  const known = new Set(accounts.map(({ id }) => id));
  for (const { at, row } of rows) {
    const id = row.billingAccountId;
    if (id !== undefined && id !== null && !known.has(id)) {
      throw fault(`${at}.billingAccountId`, `names no account: '${id}'`, id);
    }
  }
}

/**
 * Resolves the references of card rows and checks their rates (spec/resources.md R46 to R48), with
 * two queries for any number of rows. 400: a reference does not resolve, rates contradict each
 * other, or two cards have one currency. Thousands of rows are resolved in portions.
 */
export async function resolveRateCards(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  cards: readonly RateCardWrite[],
  { field, rowsField = 'rows', replaced = new Map() }: RateCardOptions,
): Promise<ResolvedCard[]> {
  const attributes = await loadPriceable(trx, scope.tenantId, owner, replaced);
  const currencies = new Set<string>();
  const given: { at: string; row: RateCardRowWrite }[] = [];
  const resolved: ResolvedCard[] = [];
  const portions = new Portions();
  for (const [index, { currency, rows }] of cards.entries()) {
    const at = field === undefined ? '' : `${field}[${index}].`;
    if (currencies.has(currency)) {
      throw fault(`${at}currency`, `must not come twice: ${currency}`, currency);
    }
    currencies.add(currency);
    const columns: RowColumns[] = [];
    for (const [position, row] of rows.entries()) {
      const rowAt = `${at}${rowsField}[${position}]`;
      given.push({ at: rowAt, row });
      columns.push(resolveRow(row, position, rowAt, attributes));
      if (portions.isOver) await portions.rest();
    }
    resolved.push({ currency, rows: columns });
  }
  await requireBillingAccounts(trx, scope.tenantId, given);
  return resolved;
}
