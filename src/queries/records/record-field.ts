import { problem } from '../../kernel/problem.js';
import {
  isScalarField,
  keyOf,
  type ScalarField,
  type Sql,
} from '../../models/records/record-key.js';
import type { RecordType } from '../../models/records/record-type.js';

/** What a filter or a sort of records is about. */
export type RecordTarget =
  | { readonly kind: 'id' }
  | { readonly kind: 'instant'; readonly column: string }
  /** A declared scalar field, by its key: the column that keeps it, or its computation. */
  | {
      readonly kind: 'scalar';
      readonly field: ScalarField;
      readonly key: Sql;
      readonly column: string | null;
    }
  | { readonly kind: 'object'; readonly name: string }
  /** What no declaration gives a type: a member of free data, or what an array holds. */
  | { readonly kind: 'path'; readonly path: readonly string[] };

const systemTargets: Readonly<Record<string, RecordTarget>> = {
  id: { kind: 'id' },
  createdAt: { kind: 'instant', column: 'record.created_at' },
  updatedAt: { kind: 'instant', column: 'record.updated_at' },
};

/** Names that every record has by itself, so that no field can have them. */
export const systemFields: ReadonlySet<string> = new Set(Object.keys(systemTargets));

/** Characters of a field's name that an answer repeats. */
const shownMax = 200;

/** `parameter` is what the caller wrote the field in: filter, sort or fields. */
const unknownField = (parameter: string, name: string) =>
  problem.validation(`'${name}' in '${parameter}' is not a field of the record type`, {
    field: name === '' ? parameter : name,
    value: name,
  });

/** Records nest no deeper than a body may. */
const pathStepsMax = 64;

/** The steps of a name such as `a.b`; 400: it is none, or the type declares no such field. */
export function readFieldPath(type: RecordType, name: string, parameter: string): string[] {
  const path = name.split('.');
  if (path.includes('')) throw unknownField(parameter, name);
  if (path.length > pathStepsMax) {
    const shown = name.slice(0, shownMax);
    const message = `'${shown}' in '${parameter}' has more than ${pathStepsMax} steps`;
    throw problem.validation(message, { field: shown });
  }
  const declared = type.declaredFields();
  if (declared === null || systemFields.has(name)) return path;
  const field = declared.find((one) => one.name === path[0]);
  if (!field || (path.length > 1 && isScalarField(field))) throw unknownField(parameter, name);
  return path;
}

/** What a name stands for; 400: the type declares no such field. */
export function resolveField(type: RecordType, name: string, parameter: string): RecordTarget {
  const path = readFieldPath(type, name, parameter);
  const system = Object.hasOwn(systemTargets, name) ? systemTargets[name] : undefined;
  if (system) return system;
  const field = type.declaredFields()?.find((one) => one.name === name);
  if (!field || field.type === 'array') return { kind: 'path', path };
  if (!isScalarField(field)) return { kind: 'object', name };
  const column = type.keys[name];
  return column === undefined
    ? { kind: 'scalar', field, key: keyOf('record.data', field), column: null }
    : { kind: 'scalar', field, key: { sql: `record.${column}`, bindings: [] }, column };
}
