import type { Static, TObject } from 'typebox';
import { parseDecimal } from '../../kernel/numbers/money.js';

/** What a schema node may hold, as far as reading stored rates needs to know. */
interface SchemaNode {
  readonly type?: string;
  readonly decimal?: object;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}

/** A value that does not fit; not `null`, which a rate may well be. */
const misfit = Symbol('misfit');

/**
 * Turns the JSON of a stored row back into what validation gave: decimals are text there, because
 * JSONB would lose their digits. `null` when it does not fit the schema: rows are checked when they
 * are written, but one bad row must not stop the rating of other events.
 */
export function readStoredRates<Rates extends TObject>(
  schema: Rates,
  stored: unknown,
): Static<Rates> | null {
  const value = readNode(schema, stored);
  // The walk above follows the schema, so what fits it has the schema's static type.
  return value === misfit ? null : (value as Static<Rates>);
}

function readNode(schema: SchemaNode, stored: unknown): unknown {
  if (schema.anyOf) return readFirst(schema.anyOf, stored);
  if (schema.decimal) return typeof stored === 'string' ? (parseDecimal(stored) ?? misfit) : misfit;
  switch (schema.type) {
    case 'object':
      return readObject(schema, stored);
    case 'array':
      return Array.isArray(stored) ? readItems(schema.items ?? {}, stored) : misfit;
    case 'integer':
      return Number.isInteger(stored) ? stored : misfit;
    case 'boolean':
      return typeof stored === 'boolean' ? stored : misfit;
    case 'null':
      return stored === null ? null : misfit;
    default:
      return typeof stored === 'string' ? stored : misfit;
  }
}

function readFirst(schemas: readonly SchemaNode[], stored: unknown): unknown {
  for (const schema of schemas) {
    const value = readNode(schema, stored);
    if (value !== misfit) return value;
  }
  return misfit;
}

function readItems(schema: SchemaNode, stored: readonly unknown[]): unknown {
  const items = stored.map((item) => readNode(schema, item));
  return items.includes(misfit) ? misfit : items;
}

function readObject(schema: SchemaNode, stored: unknown): unknown {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return misfit;
  const members = new Map<string, unknown>(Object.entries(stored));
  const value: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const isRequired = schema.required?.includes(name) ?? false;
    const text = members.get(name);
    if (text === undefined || (text === null && !isRequired && !member.anyOf)) {
      if (isRequired) return misfit;
      continue;
    }
    const read = readNode(member, text);
    if (read === misfit) return misfit;
    value[name] = read;
  }
  return value;
}
