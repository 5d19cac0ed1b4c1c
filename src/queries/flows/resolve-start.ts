import type { Knex } from 'knex';
import { isUuid } from '../../kernel/id.js';
import { problem } from '../../kernel/problem.js';
import { referenceData } from '../../kernel/reference-data.js';
import type { Scope } from '../../kernel/scope.js';
import { Account } from '../../models/accounts/account.js';
import { Contract } from '../../models/contracts/contract.js';
import { Service } from '../../models/catalog/service.js';
import { onceInTransaction } from '../../models/db/once-in-transaction.js';
import { findNamedRecord } from '../../models/db/find-named-record.js';
import type { ApprovableRecord } from '../../models/db/tenant-model.js';
import type { Flow, ReferenceTarget } from '../../schemas/flows/flow.js';
import { findByNaturalKeys } from '../keys/find-by-natural-key.js';
import { reviveInput } from '../../schemas/fields/validator.js';

interface Target {
  readonly model: typeof ApprovableRecord;
  /** Columns of natural keys, the most specific first. */
  readonly keys: readonly string[];
}

type RecordTarget = Exclude<ReferenceTarget, 'currency'>;

const records: Readonly<Record<RecordTarget, Target>> = {
  account: { model: Account, keys: ['external_id', 'number'] },
  contract: { model: Contract, keys: ['number'] },
  service: { model: Service, keys: ['name', 'code'] },
};

/** The currency code behind an id, code or name. */
const currencyOf = (text: string): string | undefined =>
  (referenceData.currency(text) ?? referenceData.currencyById(text))?.code;

const findRecord = (
  { db, tenantId }: Scope,
  target: RecordTarget,
  asked: { readonly text: string; readonly isHeld: boolean },
): Promise<string | undefined> => {
  const { model, keys } = records[target];
  return findNamedRecord(db.read, tenantId, { table: model.tableName, keys }, asked);
};

/**
 * What a reference names, asked once for all items of a batch that share a transaction; a command that
 * needs the record locks it, unless its reference is held.
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
  readonly isHeld?: boolean;
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
    const declared = (flow.start.properties[field] ?? {}) as StartField;
    const { to = field } = declared;
    putValue(resolved, to, await resolveValue(scope, field, declared, value));
  }
  return resolved;
}

async function resolveValue(
  scope: Scope,
  field: string,
  { reference, isHeld = false }: StartField,
  value: unknown,
): Promise<unknown> {
  if (reference === undefined || typeof value !== 'string') return value;
  const found =
    reference === 'currency'
      ? currencyOf(value)
      : await findOnce(scope, reference, value, () =>
          findRecord(scope, reference, { text: value, isHeld }),
        );
  if (found !== undefined) return found;
  throw problem.validation(`'${field}' names no ${reference}: '${value}'`, { field, value });
}
