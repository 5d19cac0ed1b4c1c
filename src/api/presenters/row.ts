import { referenceData } from '../../kernel/reference-data.js';
import type { LookupTarget, RowSpec } from '../../schemas/http/row.js';

const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const lookupId = (target: LookupTarget, name: string): string | null =>
  (target === 'currency'
    ? referenceData.currency(name)?.id
    : referenceData.picklistValue(target, name)?.id) ?? null;

interface RowField {
  /** The PascalCase name. */
  readonly field: string;
  /** The name of the sibling that holds a lookup's display name. */
  readonly display: string;
  readonly target: LookupTarget | undefined;
}

/** The fields of each kind of row by their camelCase names: a page of rows names them once. */
const fieldsOfSpecs = new WeakMap<RowSpec, Map<string, RowField>>();

function fieldOf(fields: Map<string, RowField>, spec: RowSpec, name: string): RowField {
  const known = fields.get(name);
  if (known) return known;
  const field = pascalCase(name);
  const made = { field, display: `${field}__r`, target: spec.lookups[name] };
  fields.set(name, made);
  return made;
}

/** The PascalCase row of a record: see `RowSpec`. */
export function toRow(spec: RowSpec, record: Readonly<Record<string, unknown>>): object {
  const fields = fieldsOfSpecs.get(spec) ?? new Map<string, RowField>();
  fieldsOfSpecs.set(spec, fields);
  const row: Record<string, unknown> = { __type__: spec.type };
  for (const name of Object.keys(record)) {
    const value = record[name];
    const { field, display, target } = fieldOf(fields, spec, name);
    if (target === undefined) {
      row[field] = value;
    } else if (typeof value === 'string') {
      row[field] = lookupId(target, value);
      row[display] = { Name: value };
    } else {
      row[field] = null;
      row[display] = null;
    }
  }
  return row;
}
