import { Type, type TUnsafe } from 'typebox';
import type { PicklistName } from './reference-data.js';

/**
 * A value of a picklist by its name, in any letter case; the canonical name after validation.
 * The keyword `picklist` is defined by `schemas/validator.ts`.
 */
export function Picklist(
  name: PicklistName,
  options: { description: string; default?: string },
): TUnsafe<string> {
  return Type.Unsafe<string>({ ...options, picklist: name });
}
