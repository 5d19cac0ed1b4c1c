import { referenceData } from '../../kernel/reference-data.js';
import type { LookupTarget, RowSpec } from '../../schemas/row.js';

const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const lookupId = (target: LookupTarget, name: string): string | null =>
  (target === 'currency'
    ? referenceData.currency(name)?.id
    : referenceData.picklistValue(target, name)?.id) ?? null;

/** The PascalCase row of a record: see `RowSpec`. */
export function toRow(spec: RowSpec, record: Readonly<Record<string, unknown>>): object {
  const row: Record<string, unknown> = { __type__: spec.type };
  for (const [name, value] of Object.entries(record)) {
    const field = pascalCase(name);
    const target = spec.lookups[name];
    if (target === undefined) {
      row[field] = value;
    } else if (typeof value === 'string') {
      row[field] = lookupId(target, value);
      row[`${field}__r`] = { Name: value };
    } else {
      row[field] = null;
      row[`${field}__r`] = null;
    }
  }
  return row;
}
