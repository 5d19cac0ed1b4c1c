import type { Knex } from 'knex';
import { raw } from 'objection';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { utcDate } from '../../kernel/time/date.js';
import { Attribute, type CatalogOwner } from '../../models/catalog/attribute.js';
import { isNotOver } from '../../models/catalog/rate-card.js';
import { RateCardRow } from '../../models/catalog/rate-card-row.js';
import { ContractService } from '../../models/contracts/contract-service.js';
import { getAttribute, loadAttributes } from '../../queries/catalog/attribute.js';
import type { AttributeKind } from '../../rating/index.js';
import { columnsOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/catalog/attribute.js';
import { requireServiceFits } from '../rules/size-limits.js';

/*
 * The attributes of a service or of a contract line. The caller of these functions holds the
 * owner's row until the transaction ends.
 */

export type AttributeInput = Static<typeof schema.LineAttributeWrite>;
export type AttributeChange = Static<typeof schema.LineAttributeUpdate>;

/** Columns that may not be null get their default when a caller sends null. */
const attributeColumns = (input: AttributeInput | AttributeChange) =>
  columnsOf(schema.LineAttribute, input, {
    isContractInput: false,
    isMeterDimension: false,
    aggregation: 'SUM',
    dimValues: [],
  });

/** All columns of a new attribute, so that what was inserted can be shown without reading it. */
function newColumns(input: AttributeInput) {
  return {
    label: null,
    isProration: null,
    meterResetFrequency: null,
    dimensionValText: null,
    uniqueDimension: null,
    isContractInput: false,
    isMeterDimension: false,
    aggregation: 'SUM' as const,
    dimValues: [],
    ...attributeColumns(input),
  };
}

/** 400: values are counted by a counter that knows of which dimension, and by no other. */
function requireCountable(
  attribute: Pick<Attribute, 'aggregation' | 'isMeterDimension' | 'uniqueDimension'> & {
    readonly name?: string;
  },
): void {
  const { name = '', aggregation, isMeterDimension, uniqueDimension } = attribute;
  const refuse = (field: string, text: string) =>
    problem.validation(`'${field}' of the attribute '${name}': ${text}`, { field });
  if (aggregation !== 'UNIQUE') {
    if (uniqueDimension === null) return;
    throw refuse(
      'uniqueDimension',
      `it is of the aggregation UNIQUE, not of ${aggregation}; null clears it`,
    );
  }
  if (uniqueDimension === null) {
    throw refuse('uniqueDimension', 'UNIQUE needs the name of the dimension whose values count');
  }
  if (!isMeterDimension) {
    throw refuse('aggregation', 'UNIQUE is of metered attributes: isMeterDimension must be true');
  }
}

/** Attributes of a request under the name of the field that holds them. */
export interface NamedAttributes {
  readonly field: string;
  readonly attributes: readonly AttributeInput[];
}

/** 400: two attributes of one body have the same name. */
export function requireDistinctNames(collections: readonly NamedAttributes[]): void {
  const seen = new Set<string>();
  for (const { field, attributes } of collections) {
    for (const [index, { name }] of attributes.entries()) {
      if (seen.has(name)) {
        const at = `${field}[${index}].name`;
        throw problem.validation(`'${at}': there are two attributes named '${name}'`, {
          field: at,
          value: name,
        });
      }
      seen.add(name);
    }
  }
}

/** Adds attributes in their order, after `after` others. 409: a name is taken. */
export async function insertAttributes(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  kind: AttributeKind,
  attributes: readonly AttributeInput[],
  after = 0,
): Promise<Attribute[]> {
  if (attributes.length === 0) return [];
  for (const attribute of attributes) requireCountable(newColumns(attribute));
  const inserted = await Attribute.insertAll(
    trx,
    scope.tenantId,
    attributes.map((attribute, index) => ({
      ...newColumns(attribute),
      ...owner,
      kind,
      position: after + index,
    })),
  );
  await requireServiceFits(trx, scope, owner);
  return inserted;
}

/** Adds one priceable attribute after the others. 409: its name is taken. */
export async function createAttribute(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  input: AttributeInput,
): Promise<Attribute> {
  const last = await Attribute.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where(owner)
    .orderBy('position', 'desc')
    .first();
  const after = (last?.position ?? -1) + 1;
  const [created] = await insertAttributes(trx, scope, owner, 'PRICEABLE', [input], after);
  if (!created) throw new Error('An insert of one attribute returned none.');
  return created;
}

/**
 * Changes what is given; a new name holds on the rows of rate cards too, and that of a service on the
 * lines that have a copy (docs/decisions/0308). 404, 409: name taken.
 */
export async function updateAttribute(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  id: string,
  input: AttributeChange,
  kind?: AttributeKind,
): Promise<Attribute> {
  const attribute = await getAttribute(trx, scope.tenantId, owner, id, kind);
  const oldName = attribute.name;
  await attribute
    .$query(trx)
    .forTenant(scope.tenantId)
    .patch({ ...attributeColumns(input), updatedAt: scope.now() });
  requireCountable(attribute);
  await requireServiceFits(trx, scope, owner);
  if (attribute.name !== oldName) {
    await RateCardRow.query(trx)
      .forTenant(scope.tenantId)
      .existing()
      .where({ attributeId: attribute.id })
      .patch({ attributeName: attribute.name });
    await ContractService.renameCopies(trx, scope.tenantId, attribute, oldName);
  }
  return attribute;
}

/** The rows of current and coming cards, of any owner, that price one of these attributes. */
function currentRowsOf(trx: Knex.Transaction, scope: Scope, attributeIds: readonly string[]) {
  return RateCardRow.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .whereIn('attributeId', [...attributeIds])
    .whereRaw(
      `exists (
         select from rate_card as card
         where card.tenant_id = rate_card_row.tenant_id and card.id = rate_card_row.rate_card_id
           and card.deleted_at is null and ${isNotOver('card')})`,
      [utcDate(scope.now())],
    );
}

const stillPriced = (name: string, label: string) =>
  problem.conflict(
    `The attribute '${name}' is used by the row '${label}' of a rate card that is in force, or will be.`,
    { field: 'name', value: name },
  );

/** Deletes an attribute. 404: there is none. 409: a row of a current or coming card prices it. */
export async function deleteAttribute(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  id: string,
  kind?: AttributeKind,
): Promise<Attribute> {
  const attribute = await getAttribute(trx, scope.tenantId, owner, id, kind);
  const row = await currentRowsOf(trx, scope, [attribute.id]).first();
  if (row) throw stillPriced(attribute.name, row.label);
  await attribute.$query(trx).forTenant(scope.tenantId).patch({ deletedAt: scope.now() });
  return attribute;
}

/** Deletes all attributes of an owner, or those of one kind, whoever uses them. */
export async function deleteAttributes(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  kind?: AttributeKind,
): Promise<void> {
  await Attribute.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where(kind === undefined ? owner : { ...owner, kind })
    .patch({ deletedAt: scope.now() });
}

/** The attributes of one kind that take the place of all others of that kind. */
export interface AttributeReplacement {
  readonly kind: AttributeKind;
  readonly attributes: readonly AttributeInput[];
}

/** The names of the priceable attributes that were replaced, by their old ids. */
export type ReplacedNames = ReadonlyMap<string, string>;

/**
 * Puts new attributes in the place of those of the same kinds. The rows of current and coming cards that
 * priced an old one, cards of contract lines too, price the new one of the same name from then on
 * (docs/decisions/0030). 409: there is no new one of that name.
 */
export async function replaceAttributes(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  replacements: readonly AttributeReplacement[],
): Promise<ReplacedNames> {
  const old = await loadAttributes(trx, scope.tenantId, owner);
  const replaced = new Map(
    old.filter(({ kind }) => kind === 'PRICEABLE').map(({ id, name }) => [id, name]),
  );
  // All are deleted first: a name may move from one kind to another.
  for (const { kind } of replacements) await deleteAttributes(trx, scope, owner, kind);
  for (const { kind, attributes } of replacements) {
    await insertAttributes(trx, scope, owner, kind, attributes);
  }
  const priceable = replacements.find(({ kind }) => kind === 'PRICEABLE');
  if (!priceable) return new Map();
  await repointRows(trx, scope, owner, [...replaced.keys()], priceable.attributes);
  return replaced;
}

async function repointRows(
  trx: Knex.Transaction,
  scope: Scope,
  owner: CatalogOwner,
  oldIds: readonly string[],
  attributes: readonly AttributeInput[],
): Promise<void> {
  if (oldIds.length === 0) return;
  const names = attributes.map(({ name }) => name);
  const orphan = await currentRowsOf(trx, scope, oldIds).whereNotIn('attributeName', names).first();
  if (orphan) throw stillPriced(orphan.attributeName, orphan.label);
  // A row's name is that of its attribute, so the new attribute is found by it.
  const successor = Attribute.query(trx)
    .forTenant(scope.tenantId)
    .existing()
    .where({ ...owner, kind: 'PRICEABLE' })
    .where('attribute.name', raw('rate_card_row.attribute_name'))
    .select('attribute.id');
  await currentRowsOf(trx, scope, oldIds).patch({ attributeId: successor });
}
