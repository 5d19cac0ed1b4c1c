import type { Knex } from 'knex';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { Contract } from '../../models/contracts/contract.js';
import { Service } from '../../models/catalog/service.js';
import { onceInTransaction } from '../../models/db/once-in-transaction.js';
import type { ApprovableRecord } from '../../models/db/tenant-model.js';
import type { Flow, ReferenceTarget } from '../../schemas/flows/flow.js';
import { findByNaturalKeys } from '../keys/find-by-natural-key.js';
import { reviveInput } from '../../schemas/fields/validator.js';

interface Target {
  readonly model: typeof ApprovableRecord;
  /** Natural keys, the most specific first. */
  readonly keys: readonly string[];
}

type RecordTarget = Exclude<ReferenceTarget, 'currency'>;

const records: Readonly<Record<RecordTarget, Target>> = {
  account: { model: Account, keys: ['externalId', 'number'] },
  contract: { model: Contract, keys: ['number'] },
  service: { model: Service, keys: ['name', 'code'] },
};

/** The currency code behind an id, code or name. */
const currencyOf = (text: string): string | undefined =>
  (referenceData.currency(text) ?? referenceData.currencyById(text))?.code;

/**
 * The id of the record that a reference names: by its id first, then by its natural keys in order.
 * If several share a key, as copies of a service share its code, the oldest one is meant: the
 * original.
 */
async function findRecord(
  { db, tenantId }: Scope,
  target: RecordTarget,
  text: string,
): Promise<string | undefined> {
  const { model, keys } = records[target];
  const named = await model
    .query(db.read)
    .forTenant(tenantId)
    .existing()
    .select('id')
    .where((group) => {
      if (isUuid(text)) void group.orWhere('id', text);
      for (const key of keys) void group.orWhere(key, text);
    })
    .orderByRaw(
      `array_position(array[${['id::text', ...keys.map(() => '??')].join(', ')}], ?), id`,
      [...keys.map((key) => `${model.tableName}.${key}`), text],
    )
    .first();
  return named?.id;
}

/**
 * The same, asked once for all items of a batch that share a transaction; a command that needs the
 * record locks it.
 */
function findOnce(
  { db: { read } }: Scope,
  target: RecordTarget,
  text: string,
  find: () => Promise<string | undefined>,
): Promise<string | undefined> {
  return read.isTransaction === true
    ? onceInTransaction(read as Knex.Transaction, `${target} named ${text}`, find)
    : find();
}

/** The ids of the records that texts name, by the texts: with two queries for any number of them. */
async function findRecords(
  scope: Scope,
  target: RecordTarget,
  texts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const named = await findByNaturalKeys(scope, target, texts);
  const rows = await records[target].model
    .query(scope.db.read)
    .forTenant(scope.tenantId)
    .existing()
    .select('id')
    .findByIds(texts.filter(isUuid));
  return new Map([...named, ...rows.map(({ id }) => [id, id] as const)]);
}

/**
 * Finds what the references of start nodes name that share a transaction, so that `resolveStart` need not ask
 * for each of them.
 */
export async function findReferences(
  scope: Scope,
  { start }: Flow,
  starts: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  for (const [field, { reference }] of Object.entries<StartField>(start.properties)) {
    if (reference === undefined || reference === 'currency') continue;
    const given = starts.map(({ [field]: value }) => value);
    const texts = [...new Set(given.filter((value) => typeof value === 'string'))];
    const ids = await findRecords(scope, reference, texts);
    for (const text of texts) {
      const id = ids.get(isUuid(text) ? text.toLowerCase() : text) ?? ids.get(text);
      await findOnce(scope, reference, text, () => Promise.resolve(id));
    }
  }
}

interface StartField {
  readonly to?: string;
  readonly reference?: ReferenceTarget;
}

/** Puts a value under a name of one or two parts: `profile.email`. */
function putValue(target: Record<string, unknown>, name: string, value: unknown): void {
  const [first = '', second] = name.split('.');
  if (second === undefined) target[first] = value;
  else target[first] = { ...(target[first] as object | undefined), [second]: value };
}

/**
 * The start node with the field names of commands, and references resolved to ids and currency
 * codes (spec/flows.md R5). 400: a reference does not resolve.
 */
export async function resolveStart(
  scope: Scope,
  flow: Flow,
  start: unknown,
): Promise<Record<string, unknown>> {
  const given = reviveInput(flow.start, structuredClone(start)) as Record<string, unknown>;
  const resolved: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(given)) {
    const { to = field, reference } = (flow.start.properties[field] ?? {}) as StartField;
    putValue(resolved, to, await resolveValue(scope, field, reference, value));
  }
  return resolved;
}

async function resolveValue(
  scope: Scope,
  field: string,
  reference: ReferenceTarget | undefined,
  value: unknown,
): Promise<unknown> {
  if (reference === undefined || typeof value !== 'string') return value;
  const found =
    reference === 'currency'
      ? currencyOf(value)
      : await findOnce(scope, reference, value, () => findRecord(scope, reference, value));
  if (found !== undefined) return found;
  throw problem.validation(`'${field}' names no ${reference}: '${value}'`, { field, value });
}
