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
import { reviveInput } from '../../schemas/fields/validator.js';

interface Target {
  readonly model: typeof ApprovableRecord;
  /** Natural keys, the most specific first. */
  readonly keys: readonly string[];
}

const records: Readonly<Record<Exclude<ReferenceTarget, 'currency'>, Target>> = {
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
  target: Exclude<ReferenceTarget, 'currency'>,
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
  scope: Scope,
  target: Exclude<ReferenceTarget, 'currency'>,
  text: string,
): Promise<string | undefined> {
  const { read } = scope.db;
  const find = (): Promise<string | undefined> => findRecord(scope, target, text);
  return read.isTransaction === true
    ? onceInTransaction(read as Knex.Transaction, `${target} named ${text}`, find)
    : find();
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
    reference === 'currency' ? currencyOf(value) : await findOnce(scope, reference, value);
  if (found !== undefined) return found;
  throw problem.validation(`'${field}' names no ${reference}: '${value}'`, { field, value });
}
