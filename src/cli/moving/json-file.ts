import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Decimal } from '../../kernel/numbers/money.js';
import { parseJson } from '../../kernel/text/json.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The objects that a file has under a name, as a list of an API answers; pages may be joined. */
export async function readList(folder: string, file: string, name: string): Promise<JsonObject[]> {
  const read = parseJson(await readFile(join(folder, file), 'utf8'));
  const pages = Array.isArray(read) ? read : [read];
  return pages.flatMap((page) => {
    const list = (page as JsonObject)[name] ?? (Array.isArray(read) ? [page] : undefined);
    if (!Array.isArray(list)) throw new Error(`${file} has no list '${name}'.`);
    return list as JsonObject[];
  });
}

/** A member as text; an empty one where it is missing or null. Numbers keep all their digits. */
export function textOf(object: JsonObject | undefined, name: string): string {
  const value = object?.[name];
  if (value === undefined || value === null) return '';
  if (value instanceof Decimal) return value.toFixed();
  if (typeof value === 'number') return new Decimal(value).toFixed();
  return typeof value === 'string' ? value : '';
}

export const objectOf = (object: JsonObject | undefined, name: string): JsonObject => {
  const value = object?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {};
};

export const listOf = (object: JsonObject | undefined, name: string): JsonObject[] => {
  const value = object?.[name];
  return Array.isArray(value) ? (value as JsonObject[]) : [];
};

/** Seconds since 1970, or an instant, as an instant. */
export function instantOf(text: string): string {
  if (!/^\d+(\.\d+)?$/.test(text)) return text;
  return new Date(Math.round(Number(text) * 1000)).toISOString();
}
