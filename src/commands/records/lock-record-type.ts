import type { Knex } from 'knex';
import type { Scope } from '../../kernel/scope.js';
import type { RecordType } from '../../models/records/record-type.js';
import { missingRecordType, recordTypeBy } from '../../queries/records/record-type.js';

/**
 * Locks the type so that it is neither changed nor deleted while one of its records is written;
 * with `alone`, also against other writers that lock it with `alone`.
 */
export async function holdRecordType(
  trx: Knex.Transaction,
  scope: Scope,
  key: string,
  { alone = false } = {},
): Promise<RecordType> {
  const query = recordTypeBy(trx, scope.tenantId, key);
  const type = await (alone ? query.forNoKeyUpdate() : query.forKeyShare());
  if (!type) throw missingRecordType(key);
  type.tenantId = scope.tenantId;
  return type;
}
