import type { Knex } from 'knex';
import { isUuid } from '../../kernel/id.js';
import { heldKey, onceInTransaction } from './once-in-transaction.js';
import { sqlRows } from './sql-rows.js';

/** Records of a tenant that texts name. */
export interface NamedRecords {
  readonly table: string;
  /** Columns of natural keys, the most specific first. */
  readonly keys: readonly string[];
}

/**
 * The id of the record that a text names: by its id first, then by its natural keys in order. If
 * several share a key, as copies of a service share its code, the oldest one is meant: the original.
 * One that is held is locked against its deletion until the transaction ends.
 */
export async function findNamedRecord(
  db: Knex,
  tenantId: string,
  { table, keys }: NamedRecords,
  { text, isHeld }: { readonly text: string; readonly isHeld: boolean },
): Promise<string | undefined> {
  const named = [...(isUuid(text) ? ['id'] : []), ...keys];
  const rows = await sqlRows<{ id: string }>(
    db,
    `select id from ${table} where tenant_id = ? and deleted_at is null
       and (${named.map((column) => `${column} = ?`).join(' or ')})
     order by array_position(array[${['id::text', ...keys].join(', ')}], ?), id
     limit 1 ${isHeld ? 'for share' : ''}`,
    [tenantId, ...named.map(() => text), text],
    `${table} by ${named.join(', ')}${isHeld ? ', held' : ''}`,
  );
  const id = rows[0]?.id;
  if (id !== undefined && isHeld && db.isTransaction === true) {
    const held = () => Promise.resolve({ id });
    await onceInTransaction(db as Knex.Transaction, heldKey(table, id), held);
  }
  return id;
}
