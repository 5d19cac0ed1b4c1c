import type { TObject } from 'typebox';
import type { PicklistName } from '../../kernel/reference-data.js';

/** What a lookup field of a row points to. */
export type LookupTarget = PicklistName | 'currency';

/**
 * How the camelCase record of an entity is shown as a PascalCase row (spec/resources.md R7):
 * every field of `source` under its PascalCase name; a lookup as the UUID of its value with a
 * sibling `<Field>__r` of `{Name}`; collections keep the camelCase names of their items.
 */
export interface RowSpec<S extends TObject = TObject> {
  /** Written into `__type__`. */
  readonly type: string;
  readonly source: S;
  readonly lookups: Readonly<Record<string, LookupTarget>>;
}

export function rowSpec<S extends TObject>(
  type: string,
  source: S,
  lookups: { readonly [K in keyof S['properties']]?: LookupTarget } = {},
): RowSpec<S> {
  return { type, source, lookups: lookups as Readonly<Record<string, LookupTarget>> };
}
