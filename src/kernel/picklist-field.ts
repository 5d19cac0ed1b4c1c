import { Type, type TUnsafe } from 'typebox';
import type { PicklistName } from './reference-data.js';

/**
 * The fields of schemas that hold a value of a picklist. The values themselves are rows of the table
 * `picklist_value` (migrations/*create-reference-data.js), remembered by `kernel/reference-data.ts`.
 */

/** The keyword `picklist` where ids are accepted too. */
export interface PicklistReferenceRule {
  readonly name: PicklistName;
  readonly acceptsId: true;
}

/**
 * A value of a picklist by its name, in any letter case; the canonical name after validation.
 * The keyword `picklist` is defined by `schemas/fields/validator.ts`.
 */
export function Picklist(
  name: PicklistName,
  options: { description: string; default?: string },
): TUnsafe<string> {
  return Type.Unsafe<string>({ ...options, picklist: name });
}

/** A value of a picklist by its id or its name; the canonical name after validation. */
export function PicklistReference(
  name: PicklistName,
  options: { description: string },
): TUnsafe<string> {
  const rule: PicklistReferenceRule = { name, acceptsId: true };
  return Type.Unsafe<string>({ ...options, picklist: rule });
}
