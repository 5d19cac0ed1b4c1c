import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Decimal } from '../../kernel/numbers/money.js';
import { parseJson } from '../../kernel/text/json.js';
import { unreadable } from './csv-file.js';

export type JsonObject = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a file of JSON has. Throws where it is missing or no JSON, and names it. */
async function readJson(folder: string, file: string): Promise<unknown> {
  const path = join(folder, file);
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof TypeError ? 'it is no UTF-8 text' : (error as Error).message;
    throw new Error(`${file} is no JSON: ${why.replace('The body is not valid JSON: ', '')}`, {
      cause: error,
    });
  }
}

/** The objects that a file has under a name, as a list of an API answers; pages may be joined. */
export async function readList(folder: string, file: string, name: string): Promise<JsonObject[]> {
  const read = await readJson(folder, file);
  const pages = Array.isArray(read) ? read : [read];
  return pages.flatMap((page: unknown) => {
    const own = isObject(page) ? page : {};
    const list = own[name] ?? (Array.isArray(read) ? [page] : undefined);
    if (!Array.isArray(list)) throw new Error(`${file} has no list '${name}'.`);
    const other = list.findIndex((entry) => !isObject(entry));
    if (other >= 0)
      throw new Error(`${file}: '${name}' has an entry that is no object (${other}).`);
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
  return isObject(value) ? value : {};
};

export const listOf = (object: JsonObject | undefined, name: string): JsonObject[] => {
  const value = object?.[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

/** Seconds since 1970, or an instant, as an instant. */
export function instantOf(text: string): string {
  if (!/^\d+(\.\d+)?$/.test(text)) return text;
  const at = new Date(Math.round(Number(text) * 1000));
  // What is beyond all years stays what it is, and is refused where its place is known.
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}
