import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { Attribute, type CatalogOwner } from '../../models/catalog/attribute.js';
import type { AttributeKind } from '../../rating/index.js';
import { presenterOf } from '../../schemas/fields/columns.js';
import * as schema from '../../schemas/catalog/attribute.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import { weighFacts } from '../usage/facts-weight.js';
import { listHeavyPage } from '../lists/listing.js';
import { storedWeight } from '../lists/page-bytes.js';
import { requireService } from './require-service.js';

export type AttributeDto = Static<typeof schema.Attribute>;
export type LineAttributeDto = Static<typeof schema.LineAttribute>;

/** An attribute of a service. */
export const presentAttribute = presenterOf(schema.Attribute);

/** An attribute of a contract line. */
export const presentLineAttribute = presenterOf(schema.LineAttribute);

/** The existing attributes of an owner, of one kind when it is given, in their order. */
function attributesOf(db: Knex, tenantId: string, owner: CatalogOwner, kind?: AttributeKind) {
  return Attribute.query(db)
    .forTenant(tenantId)
    .existing()
    .where(kind === undefined ? owner : { ...owner, kind })
    .orderBy([{ column: 'position' }, { column: 'id' }]);
}

/** All attributes of an owner, of one kind when it is given, in their order. */
export async function loadAttributes(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  kind?: AttributeKind,
): Promise<Attribute[]> {
  return attributesOf(db, tenantId, owner, kind);
}

/** One page of the attributes of an owner, of one kind when it is given. */
export async function listAttributes<T>(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  page: PageRequest,
  present: (attribute: Attribute) => T,
  kind?: AttributeKind,
): Promise<Listed<T>> {
  return listHeavyPage(attributesOf(db, tenantId, owner, kind), page, present, {
    sql: storedWeight('dim_values'),
    bytesOf: weighFacts,
  });
}

/** An attribute by owner and id. 404: the owner has none, or none of this kind. */
export async function getAttribute(
  db: Knex,
  tenantId: string,
  owner: CatalogOwner,
  id: string,
  kind?: AttributeKind,
): Promise<Attribute> {
  const attribute = await attributesOf(db, tenantId, owner, kind).findById(id);
  if (!attribute) throw problem.notFound(`There is no attribute '${id}'.`);
  return attribute;
}

/** One page of a service's priceable attributes. 404: there is no such service. */
export async function listPriceableAttributes(
  { db, tenantId }: Scope,
  serviceId: string,
  page: PageRequest,
): Promise<Listed<AttributeDto>> {
  await requireService(db.read, tenantId, serviceId);
  return listAttributes(db.read, tenantId, { serviceId }, page, presentAttribute, 'PRICEABLE');
}

/** A priceable attribute of a service. 404: no such service or attribute. */
export async function getPriceableAttribute(
  { db, tenantId }: Scope,
  serviceId: string,
  id: string,
): Promise<AttributeDto> {
  await requireService(db.read, tenantId, serviceId);
  return presentAttribute(await getAttribute(db.read, tenantId, { serviceId }, id, 'PRICEABLE'));
}
