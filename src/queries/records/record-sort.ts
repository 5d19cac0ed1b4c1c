import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { problem } from '../../kernel/problem.js';
import type { Sql } from '../../models/records/record-key.js';
import type { RecordType } from '../../models/records/record-type.js';
import { resolveField, type RecordTarget } from './record-field.js';

export type Direction = 'asc' | 'desc';

/** The order of a list of records; ties go by id in the same direction. */
export interface RecordSort {
  readonly direction: Direction;
  /** What to order by, before the id; each with nulls last. */
  readonly by: readonly Sql[];
  /** The key column that the order goes by, which an index has in this order. */
  readonly keyColumn: string | null;
}

function readSort(text: string): { name: string; direction: Direction } {
  const [name = '', direction = 'asc', ...rest] = text.split(':');
  if (rest.length === 0 && (direction === 'asc' || direction === 'desc'))
    return { name, direction };
  throw problem.validation(`'sort' must be field, field:asc or field:desc, not '${text}'`, {
    field: 'sort',
    value: text,
  });
}

/** Numbers come before texts, and texts before truth values: there is no order between them. */
function pathOrder(path: readonly string[]): Sql[] {
  const bindings = [arrayLiteral(path, true)];
  const value = '(record.data #> ?::text[])';
  const whenType = (type: string, expression: string): Sql => ({
    sql: `case jsonb_typeof${value} when '${type}' then ${expression} end`,
    bindings: [...bindings, ...bindings],
  });
  return [
    whenType('number', `${value}::numeric`),
    whenType('string', `(${value} #>> '{}') collate "C"`),
    whenType('boolean', `${value}::boolean`),
  ];
}

function orderBy(target: RecordTarget, name: string): readonly Sql[] {
  switch (target.kind) {
    case 'id':
      return [];
    case 'instant':
      return [{ sql: target.column, bindings: [] }];
    case 'scalar':
      return [target.key];
    case 'object':
      throw problem.validation(`'sort' cannot go by '${name}': an object has no order`, {
        field: name,
        value: name,
      });
    case 'path':
      return pathOrder(target.path);
  }
}

/** The order that a caller asks for; by id, which is the order of creation, when nothing is said. */
export function recordSort(type: RecordType, text: string | undefined): RecordSort {
  if (text === undefined) return { direction: 'asc', by: [], keyColumn: null };
  const { name, direction } = readSort(text);
  const target = resolveField(type, name, 'sort');
  return {
    direction,
    by: orderBy(target, name),
    keyColumn: target.kind === 'scalar' ? target.column : null,
  };
}
