import type { Knex } from 'knex';
import { stringifyJson } from '../../kernel/text/json.js';
import { arrayLiteral } from '../../kernel/text/postgres-array.js';
import { problem } from '../../kernel/problem.js';
import {
  isScalarField,
  keyLengthMax,
  keyOf,
  type ScalarField,
  type Sql,
} from '../../models/records/record-key.js';
import type { DeclaredField, RecordType } from '../../models/records/record-type.js';
import { sqlRows } from '../../models/db/sql-rows.js';

/** A requirement of the new fields, as a SQL condition that selects the records violating it. */
interface Demand {
  readonly field: string;
  readonly unmet: Sql;
  readonly message: string;
}
type Fields = readonly DeclaredField[] | null;

const value = 'record.data -> ?::text';
/** A JSON null counts as an absent value. */
const hasValue = `coalesce(jsonb_typeof(${value}), 'null') <> 'null'`;

function typeDemand(field: DeclaredField): Demand {
  const { name, type } = field;
  const key = keyOf('record.data', field);
  const fits: Sql =
    isScalarField(field) && type !== 'boolean'
      ? { sql: `${key.sql} is not null`, bindings: key.bindings }
      : { sql: `jsonb_typeof(${value}) = ?::text`, bindings: [name, type] };
  return {
    field: name,
    unmet: { sql: `${hasValue} and not (${fits.sql})`, bindings: [name, ...fits.bindings] },
    message: `have a value of another type than '${type}' in '${name}'`,
  };
}

const requiredDemand = ({ name }: DeclaredField): Demand => ({
  field: name,
  unmet: { sql: `not (${hasValue})`, bindings: [name] },
  message: `have no '${name}', which is required`,
});

const valuesDemand = ({ name, values = [] }: DeclaredField): Demand => ({
  field: name,
  unmet: {
    sql: `${hasValue} and not (${value} = any(?::jsonb[]))`,
    bindings: [name, name, arrayLiteral(values.map(stringifyJson), true)],
  },
  message: `have another value than the allowed ones in '${name}'`,
});

const lengthDemand = ({ name }: DeclaredField): Demand => ({
  field: name,
  unmet: { sql: `length(record.data ->> ?::text) >= ${keyLengthMax}`, bindings: [name] },
  message: `have a text of more than ${keyLengthMax - 1} characters in '${name}', which is unique`,
});

const removedDemand = ({ name }: DeclaredField): Demand => ({
  field: name,
  unmet: { sql: hasValue, bindings: [name] },
  message: `have a value in '${name}', which the type would no longer have`,
});

/** Fields that are not declared, when free data becomes typed. */
const undeclaredDemand = (fields: readonly DeclaredField[]): Demand => ({
  field: 'fields',
  unmet: {
    sql: `exists (select from jsonb_each(record.data) as member (name, value)
      where member.value <> 'null' and not (member.name = any(?::text[])))`,
    bindings: [
      arrayLiteral(
        fields.map(({ name }) => name),
        true,
      ),
    ],
  },
  message: 'have a field that is not declared',
});

/** Whether every value that was allowed before still is. */
const keepsValues = (before: DeclaredField | undefined, { values }: DeclaredField): boolean => {
  if (values === undefined) return true;
  const allowed = new Set(values.map(stringifyJson));
  return before?.values?.every((one) => allowed.has(stringifyJson(one))) ?? false;
};

const isNewlyUnique = (before: DeclaredField | undefined, field: DeclaredField): boolean =>
  field.unique === true && !(before?.unique === true && before.type === field.type);

function demandsOf(before: Fields, after: Fields): Demand[] {
  if (after === null) return [];
  const known = new Map((before ?? []).map((field) => [field.name, field]));
  const names = new Set(after.map(({ name }) => name));
  const removed = (before ?? []).filter(({ name }) => !names.has(name));
  const ofFields = after.flatMap((field) => {
    const old = known.get(field.name);
    const isRetyped = old?.type !== field.type;
    return [
      ...(isRetyped ? [typeDemand(field)] : []),
      ...(field.required === true && old?.required !== true ? [requiredDemand(field)] : []),
      ...(keepsValues(isRetyped ? undefined : old, field) ? [] : [valuesDemand(field)]),
      ...(field.type === 'string' && isNewlyUnique(old, field) ? [lengthDemand(field)] : []),
    ];
  });
  return [
    ...(before === null ? [undeclaredDemand(after)] : []),
    ...removed.map(removedDemand),
    ...ofFields,
  ];
}

const records = (count: number): string => (count === 1 ? '1 record' : `${count} records`);

function refuse(field: string, count: number, example: string, message: string): never {
  const wording = count === 1 ? message.replace(/^have /, 'has ') : message;
  throw problem.conflict(`${records(count)} ${wording}; one is '${example}'.`, {
    field,
    count,
    example,
  });
}

/** Checks all requirements in one scan of the records. */
async function checkDemands(trx: Knex.Transaction, type: RecordType, demands: readonly Demand[]) {
  if (demands.length === 0) return;
  const counts = demands.map(({ unmet }) => `count(*) filter (where ${unmet.sql})`);
  const examples = demands.map(({ unmet }) => `min(id::text) filter (where ${unmet.sql})`);
  const bindings = demands.flatMap(({ unmet }) => unmet.bindings);
  const rows = await sqlRows<{ counts: string[]; examples: string[] }>(
    trx,
    `select array[${counts.join(', ')}]::text[] as counts, array[${examples.join(', ')}] as examples
     from record where tenant_id = ?::text and record_type_id = ?::uuid`,
    [...bindings, ...bindings, type.tenantId, type.id],
  );
  demands.forEach(({ field, message }, index) => {
    const count = Number(rows[0]?.counts[index] ?? 0);
    if (count > 0) refuse(field, count, rows[0]?.examples[index] ?? '', message);
  });
}

async function checkUnique(trx: Knex.Transaction, type: RecordType, field: ScalarField) {
  const key = keyOf('record.data', field);
  const rows = await sqlRows<{ count: string; example: string | null }>(
    trx,
    `select coalesce(sum(records), 0)::text as count, min(example) as example from (
       select count(*) as records, min(id::text) as example
       from (select id, ${key.sql} as key from record
         where tenant_id = ?::text and record_type_id = ?::uuid) as keyed
       where key is not null group by key having count(*) > 1) as repeated`,
    [...key.bindings, type.tenantId, type.id],
  );
  const { count = '0', example } = rows[0] ?? {};
  const { name } = field;
  if (count !== '0') {
    refuse(name, Number(count), example ?? '', `have a value that another has too in '${name}'`);
  }
}

/**
 * Checks that the stored records of a type fit its new fields (docs/decisions/0088). The caller
 * locks the type, so that no record changes meanwhile. 409, with the number of records that do not
 * fit and one example.
 */
export async function requireFit(
  trx: Knex.Transaction,
  type: RecordType,
  after: Fields,
): Promise<void> {
  const before = type.declaredFields();
  await checkDemands(trx, type, demandsOf(before, after));
  const known = new Map((before ?? []).map((field) => [field.name, field]));
  const unique = (after ?? []).filter((field) => isNewlyUnique(known.get(field.name), field));
  // At most six, as many as there are columns for unique values.
  for (const field of unique.filter(isScalarField)) await checkUnique(trx, type, field);
}
