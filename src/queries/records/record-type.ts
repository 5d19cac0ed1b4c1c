import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { RecordType } from '../../models/records/record-type.js';
import type { Listed } from '../../schemas/http/operation.js';
import type { PageRequest } from '../../schemas/http/paging.js';
import type * as schema from '../../schemas/records/record-type.js';
import { listHeavyPage } from '../lists/listing.js';
import { storedWeight } from '../lists/page-bytes.js';

export type RecordTypeDto = Static<typeof schema.RecordType>;

export function presentRecordType(type: RecordType): RecordTypeDto {
  const { id, name, label, description, createdAt, updatedAt } = type;
  return {
    id,
    name,
    label,
    description,
    fields: type.declaredFields() as RecordTypeDto['fields'],
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

export const missingRecordType = (key: string) =>
  problem.notFound(`There is no record type '${key}'.`);

/** The query for a type by its id or its name (docs/decisions/0085). */
export function recordTypeBy(db: Knex, tenantId: string, key: string) {
  return RecordType.query(db)
    .forTenant(tenantId)
    .modify('whole')
    .findOne(isUuid(key) ? { id: key } : { name: key });
}

/** A type by its id or its name; 404: there is none. */
export async function requireRecordType(
  db: Knex,
  tenantId: string,
  key: string,
): Promise<RecordType> {
  const type = await recordTypeBy(db, tenantId, key);
  if (!type) throw missingRecordType(key);
  type.tenantId = tenantId;
  return type;
}

/** A type by its id or its name; 404: there is none. */
export async function getRecordType(scope: Scope, key: string): Promise<RecordTypeDto> {
  return presentRecordType(await requireRecordType(scope.db.read, scope.tenantId, key));
}

/** One page of the types, by name. */
export async function listRecordTypes(
  scope: Scope,
  page: PageRequest,
): Promise<Listed<RecordTypeDto>> {
  const types = RecordType.query(scope.db.read)
    .forTenant(scope.tenantId)
    .modify('whole')
    .orderBy('name');
  return listHeavyPage(types, page, presentRecordType, {
    sql: storedWeight('fields', 'description'),
    bytesOf: ({ fields, description }) => (fields?.length ?? 0) + (description?.length ?? 0),
  });
}
