import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { newId } from '../../kernel/id.js';
import type { Scope } from '../../kernel/scope.js';
import { databaseErrorOf } from '../../kernel/sql-state.js';
import { parseStoredInPortions } from '../../kernel/text/json-portions.js';
import { stringifyJsonInPortions } from '../../kernel/text/json-write-portions.js';
import { GenericRecord } from '../../models/records/record.js';
import { uniqueConstraint } from '../../models/records/record-key.js';
import type { RecordType } from '../../models/records/record-type.js';
import { missingRecord, presentRecord } from '../../queries/records/record.js';
import type * as schema from '../../schemas/records/record.js';
import type { StoredRecord } from '../../schemas/records/record.js';
import type { RecordDeletion } from '../../schemas/records/record-type.js';
import { recordWebhookEvent } from '../webhooks/webhook-event.js';
import { holdRecordType } from './lock-record-type.js';
import {
  changedData,
  dataFault,
  recordLengthMax,
  takenValue,
  tooLarge,
  withNumbers,
  type RecordData,
} from './record-data.js';
import { storeRecords } from './check-and-store-records.js';

type RecordCreate = Static<typeof schema.RecordCreate>;
type RecordUpdate = Static<typeof schema.RecordUpdate>;

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
    const fields = type.declaredFields();
    const given = withNumbers(scope, fields, input.data) as RecordData;
    const fault = await dataFault(fields, given, { isChange: true });
    if (fault) throw fault;
    const data = changedData((await parseStoredInPortions(record.data)) as RecordData, given);
    const text = await stringifyJsonInPortions(data, { isUneven: true });
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
      data: await presentRecord(record),
    });
    return { success: true, message: `The record '${id}' was deleted.` };
  });
}
