import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { newId } from '../../kernel/id.js';
import { JsonText, parseJson, stringifyJson } from '../../kernel/text/json.js';
import { Problem, problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { eachInPortions } from '../../kernel/portions.js';
import { GenericRecord, type RecordInput } from '../../models/records/record.js';
import { uniqueConstraint } from '../../models/records/record-key.js';
import type { RecordType } from '../../models/records/record-type.js';
import { missingRecord, presentRecord } from '../../queries/records/record.js';
import {
  missingRecordType,
  recordTypeBy,
  requireRecordType,
} from '../../queries/records/record-type.js';
import type * as schema from '../../schemas/records/record.js';
import type { StoredRecord } from '../../schemas/records/record.js';
import type { RecordDeletion } from '../../schemas/records/record-type.js';
import { databaseErrorOf } from '../../kernel/sql-state.js';
import { databaseProblem } from '../rules/database-problem.js';
import { changedData, dataFault, fieldProblem, type RecordData } from './record-data.js';
import { recordWebhookEvent, recordWebhookEvents } from '../webhooks/webhook-event.js';

type RecordCreate = Static<typeof schema.RecordCreate>;
type RecordUpdate = Static<typeof schema.RecordUpdate>;

/** The outcome of each object of a bulk request, in order. */
export interface BulkOutcome {
  readonly outcomes: readonly (StoredRecord | Problem)[];
}

/**
 * Locks the type so that it is neither changed nor deleted while one of its records is written;
 * with `alone`, also against other writers that lock it with `alone`.
 */
async function holdRecordType(
  trx: Knex.Transaction,
  scope: Scope,
  key: string,
  { alone = false } = {},
): Promise<RecordType> {
  const query = recordTypeBy(trx, scope.tenantId, key);
  const type = await (alone ? query.forNoKeyUpdate() : query.forKeyShare());
  if (!type) throw missingRecordType(key);
  type.tenantId = scope.tenantId;
  return type;
}

/** 409 for a unique value that another record has. */
function takenValue(field: string | undefined, data: RecordData): Problem {
  if (field === undefined) return problem.conflict('A unique value is taken by another record.');
  return problem.conflict(`Another record has this value in '${field}', which is unique`, {
    field,
    value: data[field],
  });
}

/** An object of a request with the id of its record; ids rise in the order of the request. */
interface NewObject {
  readonly id: string;
  readonly object: unknown;
}

interface Candidate extends RecordInput {
  readonly index: number;
}

/** Characters of the JSON of a record: a body that creates or changes one may have as many bytes. */
const recordLengthMax = 1024 * 1024;

const tooLarge = () => fieldProblem(`'data' is larger than 1 MiB of JSON`, 'data');

interface Sorted {
  readonly candidates: readonly Candidate[];
  readonly faults: ReadonlyMap<number, Problem>;
}

/** Separates valid objects from invalid ones, in portions: there may be 10,000. */
async function sortObjects(type: RecordType, objects: readonly NewObject[]): Promise<Sorted> {
  const fields = type.declaredFields();
  const candidates: Candidate[] = [];
  const faults = new Map<number, Problem>();
  await eachInPortions(objects, ({ id, object }, index) => {
    const fault = dataFault(fields, object, { isChange: false });
    const data = fault ? '' : stringifyJson(object);
    if (fault) faults.set(index, fault);
    else if (data.length > recordLengthMax) faults.set(index, tooLarge());
    else candidates.push({ index, id, data });
  });
  return { candidates, faults };
}

/** Maximum characters of data in one statement; the driver copies them several times. */
const statementLength = 4 * 1024 * 1024;

/** Divides candidates, in their order, into statements of at most `statementLength` characters. */
function statementsOf(candidates: readonly Candidate[]): (readonly Candidate[])[] {
  const statements: Candidate[][] = [];
  let length = statementLength;
  for (const candidate of candidates) {
    if (length + candidate.data.length > statementLength) {
      statements.push([]);
      length = 0;
    }
    statements.at(-1)?.push(candidate);
    length += candidate.data.length;
  }
  return statements;
}

/** Stores the valid objects, each independently of the others. */
async function storeRecords(
  trx: Knex.Transaction,
  scope: Scope,
  type: RecordType,
  objects: readonly NewObject[],
  now = scope.now(),
): Promise<(StoredRecord | Problem)[]> {
  const at = now.toISOString();
  const { candidates, faults } = await sortObjects(type, objects);
  const outcomes = new Map<number, StoredRecord | Problem>(faults);
  for (const part of statementsOf(candidates)) {
    const stored = await GenericRecord.insertNew(trx, type, part, now);
    const refused = part.filter(({ id }) => !stored.has(id));
    const conflicts = await GenericRecord.findConflicts(trx, type, refused);
    for (const { index, id, data } of part) {
      outcomes.set(
        index,
        stored.has(id)
          ? { id, mobjectId: type.id, data: asWritten(data), createdAt: at, updatedAt: at }
          : takenValue(conflicts.get(id), parseJson(data) as RecordData),
      );
    }
  }
  const ordered = objects.map((_one, index) => outcomes.get(index) ?? takenValue(undefined, {}));
  const created = ordered.filter((outcome) => !(outcome instanceof Error)) as StoredRecord[];
  await recordWebhookEvents(trx, scope, ['mdata.created'], () =>
    created.map((data) => ({ event: 'mdata.created', recordId: data.id, data })),
  );
  return ordered;
}

/**
 * The data as the text that was stored, so that the parsed object can be freed before the answer.
 */
const asWritten = (data: string): StoredRecord['data'] =>
  new JsonText(data) as unknown as StoredRecord['data'];

/** Creates a record. 400: its data does not fit its type. 404: no such type. 409: a value is taken. */
export async function createRecord(
  scope: Scope,
  typeKey: string,
  { data }: RecordCreate,
): Promise<StoredRecord> {
  return scope.db.transaction(async (trx) => {
    const type = await holdRecordType(trx, scope, typeKey);
    const created = await storeRecords(trx, scope, type, [{ id: newId(), object: data }]);
    const [outcome = takenValue(undefined, {})] = created;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
}

/** Bulk requests of at least this size are written as two halves in parallel, in half the time. */
const halvedMin = 2_000;

/**
 * Divides objects into one transaction each; a type with unique fields needs a single one, since
 * unique values are compared within it.
 */
function partsOf(type: RecordType, objects: readonly NewObject[]): (readonly NewObject[])[] {
  if (objects.length < halvedMin || type.hasUniqueFields()) return [objects];
  const half = Math.ceil(objects.length / 2);
  return [objects.slice(0, half), objects.slice(half)];
}

/**
 * The outcome of each object of a part; all fail alike where its transaction failed. Throws errors
 * that no problem stands for.
 */
function outcomesOf(
  part: readonly NewObject[],
  stored: PromiseSettledResult<(StoredRecord | Problem)[]>,
): (StoredRecord | Problem)[] {
  if (stored.status === 'fulfilled') return stored.value;
  const reason: unknown = stored.reason;
  const fault = reason instanceof Problem ? reason : databaseProblem(reason);
  if (!fault) throw reason;
  return part.map(() => fault);
}

/**
 * Creates many records independently of each other. An invalid record, or one with a unique value
 * that is taken (also by an earlier object of the request), is reported at its position. So are the
 * records of a failed transaction, if another one succeeded (docs/decisions/0162). 404: there is no
 * such type.
 */
export async function createRecords(
  scope: Scope,
  typeKey: string,
  objects: readonly unknown[],
): Promise<BulkOutcome> {
  const given = await requireRecordType(scope.db.read, scope.tenantId, typeKey);
  const now = scope.now();
  const parts = partsOf(
    given,
    objects.map((object) => ({ id: newId(), object })),
  );
  // Avoids a deadlock of two requests that insert the same unique values in different order.
  const alone = objects.length > 1 && given.hasUniqueFields();
  const stored = await Promise.allSettled(
    parts.map((part) =>
      scope.db.transaction(async (trx) => {
        const type = await holdRecordType(trx, scope, typeKey, { alone });
        return storeRecords(trx, scope, type, part, now);
      }),
    ),
  );
  const [first] = stored;
  if (first?.status === 'rejected' && stored.every(({ status }) => status === 'rejected')) {
    throw first.reason;
  }
  return {
    outcomes: parts.flatMap((part, index) =>
      outcomesOf(part, stored[index] as (typeof stored)[number]),
    ),
  };
}

async function lockRecord(
  trx: Knex.Transaction,
  type: RecordType,
  id: string,
): Promise<GenericRecord> {
  const record = await GenericRecord.query(trx)
    .forTenant(type.tenantId)
    .modify('whole')
    .findOne({ id, recordTypeId: type.id })
    .forUpdate();
  if (!record) throw missingRecord(id);
  return record;
}

/** The field whose unique column a violation names. */
function takenField(type: RecordType, error: unknown): string | undefined {
  const { constraint } = databaseErrorOf(error);
  const entry = Object.entries(type.keys).find(
    ([, column]) => uniqueConstraint(column) === constraint,
  );
  return entry?.[0];
}

/**
 * Changes the fields that are given; null removes one (docs/decisions/0086). 400: a value does not
 * fit, or a required field would go. 404: no such type or record. 409: a unique value is taken.
 */
export async function updateRecord(
  scope: Scope,
  typeKey: string,
  id: string,
  input: RecordUpdate,
): Promise<StoredRecord> {
  return scope.db.transaction(async (trx) => {
    const type = await holdRecordType(trx, scope, typeKey);
    const record = await lockRecord(trx, type, id);
    const fault = dataFault(type.declaredFields(), input.data, { isChange: true });
    if (fault) throw fault;
    const data = changedData(parseJson(record.data) as RecordData, input.data);
    const text = stringifyJson(data);
    if (text.length > recordLengthMax) throw tooLarge();
    const now = scope.now();
    try {
      await GenericRecord.replaceData(trx, type, { id, data: text }, now);
    } catch (error) {
      const field = takenField(type, error);
      throw field === undefined ? error : takenValue(field, data);
    }
    const changed = {
      id,
      mobjectId: type.id,
      data: { ...data },
      createdAt: record.createdAt.toISOString(),
      updatedAt: now.toISOString(),
    };
    await recordWebhookEvent(trx, scope, {
      event: 'mdata.updated',
      recordId: id,
      data: changed,
    });
    return changed;
  });
}

/** Deletes a record; its unique values are free again. 404: no such type or record. */
export async function deleteRecord(
  scope: Scope,
  typeKey: string,
  id: string,
): Promise<Static<typeof RecordDeletion>> {
  return scope.db.transaction(async (trx) => {
    const type = await holdRecordType(trx, scope, typeKey);
    const record = await lockRecord(trx, type, id);
    await record.$query(trx).forTenant(scope.tenantId).delete();
    await recordWebhookEvent(trx, scope, {
      event: 'mdata.deleted',
      recordId: record.id,
      data: presentRecord(record),
    });
    return { success: true, message: `The record '${id}' was deleted.` };
  });
}
