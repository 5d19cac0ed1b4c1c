import { Decimal } from '../../kernel/numbers/money.js';
import type { RecordType } from '../../models/records/record-type.js';
import { readFieldPath } from './record-field.js';

/** The names to show, each with those below it; null: all of it. */
interface Selection {
  readonly [name: string]: Selection | null;
}
type Data = Readonly<Record<string, unknown>>;

function addPath(selection: Selection | null, path: readonly string[]): Selection | null {
  const [name, ...rest] = path;
  // Naming a field shows all of it, whatever else names a part of it.
  if (name === undefined || selection === null) return null;
  const below = Object.hasOwn(selection, name) ? (selection[name] ?? null) : {};
  return { ...selection, [name]: addPath(below, rest) };
}

const isPlain = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !(value instanceof Decimal);

function select(value: unknown, selection: Selection | null): unknown {
  if (selection === null) return value;
  if (Array.isArray(value)) return value.filter(isPlain).map((item) => select(item, selection));
  if (!isPlain(value)) return undefined;
  const members = Object.entries(selection)
    .filter(([name]) => Object.hasOwn(value, name))
    .map(([name, below]) => [name, select(value[name], below)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/**
 * What `fields=a,b.c` leaves of the data; members keep their places. 400: the type declares no such
 * field. `id`, `createdAt` and `updatedAt` are always shown and may be named.
 */
export function recordProjection(
  type: RecordType,
  text: string | undefined,
): (data: Record<string, unknown>) => Record<string, unknown> {
  if (text === undefined) return (data) => data;
  const paths = text.split(',').map((name) => readFieldPath(type, name.trim(), 'fields'));
  const selection = paths.reduce<Selection | null>(addPath, {});
  return (data) => select(data, selection) as Record<string, unknown>;
}
