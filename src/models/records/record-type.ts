import { LRUCache } from 'lru-cache';
import { raw, type Modifiers } from 'objection';
import { parseJson } from '../../kernel/text/json.js';
import { TenantModel } from '../db/tenant-model.js';

/** A field as it was declared; `null` stands for "not said". */
export interface DeclaredField {
  readonly name: string;
  readonly type: 'string' | 'number' | 'boolean' | 'date' | 'object' | 'array';
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly values?: unknown[];
}

/** Declarations of types that were used last, by their text: 4 MiB of them. */
const declarations = new LRUCache<string, readonly DeclaredField[]>({
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (_fields, text) => text.length,
});

function readDeclaration(text: string): readonly DeclaredField[] {
  const fields = declarations.get(text) ?? (parseJson(text) as DeclaredField[]);
  declarations.set(text, fields);
  return fields;
}

/** A type of records (spec/platform.md R18): what fields they have. */
export class RecordType extends TenantModel {
  static override tableName = 'record_type';
  static override jsonAttributes = ['keys'];
  static override modifiers: Modifiers = {
    // As text: a parser of JSON would make floats of the allowed numbers.
    whole: (query) =>
      void query.select(
        'id',
        'name',
        'label',
        'description',
        'keys',
        'createdAt',
        'updatedAt',
        raw('fields::text'),
      ),
  };

  declare name: string;
  declare label: string | null;
  declare description: string | null;
  /** JSON text; null: records hold any object. */
  declare fields: string | null;
  /** The key column of each scalar field that has one: see `record-key.ts`. */
  declare keys: Readonly<Record<string, string>>;
  declare createdAt: Date;
  declare updatedAt: Date;

  /** The declared fields; null: records hold any object. */
  declaredFields(): readonly DeclaredField[] | null {
    return this.fields === null ? null : readDeclaration(this.fields);
  }

  /** Whether a value of one record keeps another from having it. */
  hasUniqueFields(): boolean {
    return this.declaredFields()?.some(({ unique }) => unique === true) ?? false;
  }
}
