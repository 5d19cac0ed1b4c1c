import type { Knex } from 'knex';
import { GenericRecord } from '../models/record.js';

/** Bytes of data that a page may have; it has at least one record (docs/decisions/0183). */
const pageBytesMax = 8 * 1024 * 1024;

/** Rows at the start of some whose data has not been read, as many as weigh no more than a page. */
function portionOf(rows: readonly GenericRecord[]): readonly GenericRecord[] {
  let weight = 0;
  const end = rows.findIndex((row, index) => {
    weight += Number(row.weight ?? 0);
    return index > 0 && weight > pageBytesMax;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

async function readData(
  db: Knex,
  tenantId: string,
  rows: readonly GenericRecord[],
): Promise<ReadonlyMap<string, string>> {
  const heavy = rows.filter(({ data }) => (data as string | null) === null);
  if (heavy.length === 0) return new Map();
  const ids = heavy.map(({ id }) => id);
  const read = await GenericRecord.query(db)
    .forTenant(tenantId)
    .whereIn('record.id', ids)
    .modify('whole');
  return new Map(read.map(({ id, data }) => [id, data]));
}

/**
 * Reads the long data of a page in portions, until the page has as many bytes as an answer may have:
 * a thousand records of 1 MiB each are never in memory together.
 */
export async function fillPage(
  db: Knex,
  tenantId: string,
  rows: readonly GenericRecord[],
): Promise<{ readonly rows: readonly GenericRecord[]; readonly isCut: boolean }> {
  let bytes = 0;
  const filled: GenericRecord[] = [];
  while (filled.length < rows.length) {
    const portion = portionOf(rows.slice(filled.length));
    const texts = await readData(db, tenantId, portion);
    for (const row of portion) {
      const data = (row.data as string | null) ?? texts.get(row.id);
      // Deleted meanwhile: nothing of it is left to show.
      row.data = data ?? '{}';
      bytes += row.data.length;
      if (filled.length > 0 && bytes > pageBytesMax) return { rows: filled, isCut: true };
      filled.push(row);
    }
  }
  return { rows: filled, isCut: false };
}
