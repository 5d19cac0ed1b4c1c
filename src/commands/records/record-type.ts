import type { Knex } from 'knex';
import type { Static } from 'typebox';
import { defined } from '../../kernel/defined.js';
import { isUuid } from '../../kernel/id.js';
import { stringifyJson } from '../../kernel/text/json.js';
import { digitsMax } from '../../kernel/numbers/money.js';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { assignKeys, isScalarField, uniqueColumns } from '../../models/records/record-key.js';
import { GenericRecord } from '../../models/records/record.js';
import { RecordType, type DeclaredField } from '../../models/records/record-type.js';
import { WebhookOutbox } from '../../models/webhooks/webhook-event.js';
import { systemFields } from '../../queries/records/record-field.js';
import {
  missingRecordType,
  presentRecordType,
  recordTypeBy,
  type RecordTypeDto,
} from '../../queries/records/record-type.js';
import type * as schema from '../../schemas/records/record-type.js';
import { fieldProblem, isUnreadable, valueFault } from './record-data.js';
import { requireFit } from './record-type-fit.js';

type RecordTypeCreate = Static<typeof schema.RecordTypeCreate>;
type RecordTypeUpdate = Static<typeof schema.RecordTypeUpdate>;
type FieldInput = Static<typeof schema.RecordFieldWrite>;
type Deletion = Static<typeof schema.RecordDeletion>;

/** A field as it is kept: what is null or absent was not said. */
const declaredField = ({ name, type, required, unique, values }: FieldInput): DeclaredField => ({
  name,
  type,
  ...(typeof required === 'boolean' ? { required } : {}),
  ...(typeof unique === 'boolean' ? { unique } : {}),
  ...(values ? { values } : {}),
});

/** 400: an allowed value that the field cannot have. */
function checkValues(field: DeclaredField, place: string): void {
  const { values, ...free } = field;
  if (values && !isScalarField(field)) {
    throw fieldProblem(`'${place}.values' is not for the type '${field.type}'`, `${place}.values`);
  }
  values?.forEach((value, index) => {
    const at = `${place}.values[${index}]`;
    if (isUnreadable(value)) {
      throw fieldProblem(`'${at}' must not have a number of more than ${digitsMax} digits`, at);
    }
    const fault = valueFault(free, value);
    if (fault !== undefined) throw fieldProblem(`'${at}' ${fault}`, at, value);
  });
}

/** 400: two fields of one name, a name that every record has, or a demand that cannot be met. */
function checkFields(fields: readonly DeclaredField[]): void {
  const names = new Set<string>();
  fields.forEach((field, index) => {
    const place = `fields[${index}]`;
    if (systemFields.has(field.name) || names.has(field.name)) {
      const why = names.has(field.name) ? 'is the name of another field' : 'is a name of our own';
      throw fieldProblem(`'${place}.name' ${why}`, `${place}.name`, field.name);
    }
    names.add(field.name);
    if (field.unique === true && !isScalarField(field)) {
      throw fieldProblem(
        `'${place}.unique' is not for the type '${field.type}'`,
        `${place}.unique`,
      );
    }
    checkValues(field, place);
  });
  if (fields.filter(({ unique }) => unique === true).length > uniqueColumns.length) {
    throw fieldProblem(`At most ${uniqueColumns.length} of the 'fields' can be unique`, 'fields');
  }
}

/** Maximum bytes of a type's fields: they are read with each record that is written. */
const fieldsBytesMax = 256 * 1024;
const valuesMax = 10_000;

/** 400: the fields or their allowed values exceed the maximum (docs/decisions/0181). */
function checkWeight(fields: readonly DeclaredField[]): void {
  const count = fields.reduce((sum, { values }) => sum + (values?.length ?? 0), 0);
  if (count > valuesMax) {
    throw fieldProblem(`The 'fields' allow more than ${valuesMax} values in all`, 'fields');
  }
  const bytes = Buffer.byteLength(stringifyJson(fields));
  if (bytes > fieldsBytesMax) {
    const most = `${fieldsBytesMax / 1024} KiB`;
    throw fieldProblem(`The 'fields' are larger than ${most} of JSON`, 'fields');
  }
}

/** The fields of a body; null: records hold any object. */
function readFields(input: readonly FieldInput[] | null | undefined) {
  const fields = input?.map(declaredField) ?? null;
  if (fields) {
    checkWeight(fields);
    checkFields(fields);
  }
  return fields;
}

/** A name is used in place of the id, so it must not look like one. */
function checkName(name: string | undefined): void {
  if (name !== undefined && isUuid(name))
    throw fieldProblem(`'name' must not be a UUID`, 'name', name);
}

const fieldsText = (fields: readonly DeclaredField[] | null): string | null =>
  fields && stringifyJson(fields);

/** Creates a type of records. 400: its fields contradict each other. 409: the name is taken. */
export async function createRecordType(
  scope: Scope,
  input: RecordTypeCreate,
): Promise<RecordTypeDto> {
  checkName(input.name);
  const fields = readFields(input.fields);
  return scope.db.transaction(async (trx) => {
    const now = scope.now();
    const type = await RecordType.query(trx)
      .forTenant(scope.tenantId)
      .insert({
        name: input.name,
        label: input.label ?? null,
        description: input.description ?? null,
        fields: fieldsText(fields),
        keys: assignKeys(fields ?? [], { fields: [], keys: {} }),
        createdAt: now,
        updatedAt: now,
      });
    return presentRecordType(type);
  });
}

/** Locks the type until the transaction ends, so that nobody writes records of it meanwhile. */
async function lockRecordType(
  trx: Knex.Transaction,
  scope: Scope,
  key: string,
): Promise<RecordType> {
  const type = await recordTypeBy(trx, scope.tenantId, key).forUpdate();
  if (!type) throw missingRecordType(key);
  type.tenantId = scope.tenantId;
  return type;
}

interface KeyedFields {
  readonly fields: readonly DeclaredField[];
  readonly keys: RecordType['keys'];
}

/** The key columns that are now assigned to another field, or to one of another type. */
function movedColumns(before: KeyedFields, after: KeyedFields): string[] {
  const contentOf = ({ fields, keys }: KeyedFields) =>
    new Map(fields.map(({ name, type }) => [keys[name], `${type} ${name}`]));
  const contents = contentOf(before);
  return [...contentOf(after)].flatMap(([column, content]) =>
    column !== undefined && contents.get(column) !== content ? [column] : [],
  );
}

/** Gives a type other fields: checks the stored records, and refills the key columns. */
async function changeFields(
  trx: Knex.Transaction,
  scope: Scope,
  type: RecordType,
  fields: readonly DeclaredField[] | null,
): Promise<void> {
  await requireFit(trx, type, fields);
  const before = { fields: type.declaredFields() ?? [], keys: type.keys };
  type.keys = assignKeys(fields ?? [], before);
  type.fields = fieldsText(fields);
  await type.$query(trx).forTenant(scope.tenantId).patch({ fields: type.fields, keys: type.keys });
  const filled = new Set(movedColumns(before, { fields: fields ?? [], keys: type.keys }));
  const used = new Set(Object.values(type.keys));
  const cleared = Object.values(before.keys).filter((column) => !used.has(column));
  await GenericRecord.fillKeys(trx, type, { filled, cleared });
}

/**
 * Changes what is given; `fields` replaces all fields, null takes them away. 404: there is no such
 * type. 409: the name is taken, or stored records do not fit (docs/decisions/0088).
 */
export async function updateRecordType(
  scope: Scope,
  key: string,
  input: RecordTypeUpdate,
): Promise<RecordTypeDto> {
  checkName(input.name);
  const fields = readFields(input.fields);
  return scope.db.transaction(async (trx) => {
    const type = await lockRecordType(trx, scope, key);
    if (input.fields !== undefined) await changeFields(trx, scope, type, fields);
    const changes = {
      ...defined({ name: input.name, label: input.label, description: input.description }),
      updatedAt: scope.now(),
    };
    await type.$query(trx).forTenant(scope.tenantId).patch(changes);
    return presentRecordType(Object.assign(type, changes));
  });
}

/**
 * Deletes a type; `force` deletes its records too. 404: there is no such type. 409: it has records
 * (spec/platform.md R21).
 */
export async function deleteRecordType(
  scope: Scope,
  key: string,
  { force }: { readonly force: boolean },
): Promise<Deletion> {
  return scope.db.transaction(async (trx) => {
    const type = await lockRecordType(trx, scope, key);
    const count = await GenericRecord.countAll(trx, type);
    if (count > 0 && !force) {
      throw problem.conflict(
        `The record type '${type.name}' has records (${count}); ?force=true deletes them too.`,
        { count },
      );
    }
    if (count > 0) await WebhookOutbox.recordDeletions(trx, type, scope.now(), scope.depth);
    await GenericRecord.deleteAll(trx, type);
    await type.$query(trx).forTenant(scope.tenantId).delete();
    const records = count === 0 ? '' : ` with its records (${count})`;
    return { success: true, message: `The record type '${type.name}' was deleted${records}.` };
  });
}
