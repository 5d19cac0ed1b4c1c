import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { BulkTable, type BulkStatement } from '../db/bulk-table.js';

/** A charge of an event, or one of its priced rows, with the keys by which totals are grouped. */
export interface CombinationPart {
  /** The billed account. */
  readonly accountId: string;
  readonly contractId: string | null;
  readonly serviceId: string;
  readonly usageType: string;
  readonly currency: string;
  /** Of a priced row, its attribute; null: the whole charge. */
  readonly attributeName: string | null;
  /** Of a charge: whether priced rows follow it. */
  readonly hasRows: boolean;
}

/** The charges of an event without quantities and amounts; its id is a hash of its content. */
export interface UsageCombination {
  readonly id: string;
  /** The charges in their order, each followed by its priced rows. */
  readonly parts: readonly CombinationPart[];
}

interface CombinationRow {
  readonly id: string;
  readonly coarseId: string;
}

interface PartRow {
  readonly combinationId: string;
  readonly position: number;
  readonly isCoarse: boolean;
  readonly accountId: string | null;
  readonly contractId: string | null;
  readonly serviceId: string;
  readonly usageType: string;
  readonly currency: string;
  readonly attributeName: string | null;
  readonly hasRows: boolean;
}

const combinations = new BulkTable<CombinationRow>('usage_combination', {
  id: 'uuid',
  coarseId: 'uuid',
});

const parts = new BulkTable<PartRow>('usage_combination_part', {
  combinationId: 'uuid',
  position: 'integer',
  isCoarse: 'boolean',
  accountId: 'uuid',
  contractId: 'uuid',
  serviceId: 'uuid',
  usageType: 'text',
  currency: 'text',
  attributeName: 'text',
  hasRows: 'boolean',
});

/** As the database's `key_part()`: no two lists of texts have the same key. */
const keyPart = (text: string | null): string =>
  text === null ? '-' : `${Buffer.byteLength(text)}:${text}`;

const keyOf = (of: readonly CombinationPart[], isCoarse: boolean): string =>
  of
    .map(
      ({ accountId, contractId, serviceId, usageType, currency, attributeName }) =>
        (isCoarse ? '--' : keyPart(accountId) + keyPart(contractId)) +
        keyPart(serviceId) +
        keyPart(usageType) +
        keyPart(currency) +
        keyPart(attributeName),
    )
    .join('');

/** As the database has it: `md5(key)::uuid`. */
function idOf(key: string): string {
  const digest = hash('md5', key, 'hex');
  return [0, 8, 12, 16, 20]
    .map((at, index) => digest.slice(at, [8, 12, 16, 20, 32][index]))
    .join('-');
}

const ids = new LRUCache<string, string>({
  maxSize: 8 * 1024 * 1024,
  sizeCalculation: (_id, key) => key.length + 100,
});

/** The combination of these parts. */
export function combinationOf(of: readonly CombinationPart[]): UsageCombination {
  const key = keyOf(of, false);
  let id = ids.get(key);
  if (id === undefined) {
    id = idOf(key);
    ids.set(key, id);
  }
  return { id, parts: of };
}

/** Combinations that are known to be stored, as `<tenant>/<id>`. */
const stored = new LRUCache<string, true>({ max: 50_000 });

/** The statements that store those combinations that this process has not seen stored. */
export function* insertingMissingCombinations(
  trx: Knex.Transaction,
  tenantId: string,
  used: Iterable<UsageCombination>,
): Iterable<BulkStatement | null> {
  const missing = [...used].filter(({ id }) => !stored.has(`${tenantId}/${id}`));
  if (missing.length === 0) return;
  // In the order of the ids, so that two batches that store the same ones cannot deadlock.
  const rows = missing
    .map((each) => ({ ...each, coarseId: idOf(keyOf(each.parts, true)) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const coarse = new Map(rows.map((row) => [row.coarseId, row]));
  yield* combinations.insertingAll(tenantId, rows, 'on conflict do nothing');
  const fineParts = rows.flatMap(({ id, parts: of }) =>
    of.map((part, index) => ({ ...part, combinationId: id, position: index + 1, isCoarse: false })),
  );
  const coarseParts = [...coarse]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([coarseId, { parts: of }]) =>
      of.map((part, index) => ({
        ...part,
        accountId: null,
        contractId: null,
        combinationId: coarseId,
        position: index + 1,
        isCoarse: true,
      })),
    );
  yield* parts.insertingAll(tenantId, [...fineParts, ...coarseParts], 'on conflict do nothing');
  const remember = (): void => rows.forEach(({ id }) => stored.set(`${tenantId}/${id}`, true));
  void trx.executionPromise.then(remember, () => undefined);
}
