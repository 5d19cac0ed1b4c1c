import type { Knex } from 'knex';
import { mapInPortions } from '../../kernel/portions.js';
import type { Problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { asWritten, parseStoredJson } from '../../kernel/text/json.js';
import { stringifyJsonInPortions } from '../../kernel/text/json-write-portions.js';
import { GenericRecord, type RecordInput } from '../../models/records/record.js';
import type { RecordType } from '../../models/records/record-type.js';
import type { StoredRecord } from '../../schemas/records/record.js';
import { recordWebhookEvents } from '../webhooks/webhook-event.js';
import {
  dataFault,
  recordLengthMax,
  takenValue,
  tooLarge,
  withNumbers,
  type RecordData,
} from './record-data.js';

/** An object of a request with the id of its record; ids rise in the order of the request. */
export interface NewObject {
  readonly id: string;
  readonly object: unknown;
}

interface Candidate extends RecordInput {
  readonly index: number;
}

interface Sorted {
  readonly candidates: readonly Candidate[];
  readonly faults: ReadonlyMap<number, Problem>;
}

/** Separates valid objects from invalid ones, in portions: there may be 10,000. */
async function sortObjects(
  scope: Scope,
  type: RecordType,
  objects: readonly NewObject[],
): Promise<Sorted> {
  const fields = type.declaredFields();
  const candidates: Candidate[] = [];
  const faults = new Map<number, Problem>();
  await mapInPortions(objects, async ({ id, object: given }, index) => {
    const object = withNumbers(scope, fields, given);
    const fault = await dataFault(fields, object, { isChange: false });
    const data = fault ? '' : await stringifyJsonInPortions(object, { isUneven: true });
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
export async function storeRecords(
  trx: Knex.Transaction,
  scope: Scope,
  type: RecordType,
  objects: readonly NewObject[],
  now = scope.now(),
): Promise<(StoredRecord | Problem)[]> {
  const at = now.toISOString();
  const { candidates, faults } = await sortObjects(scope, type, objects);
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
          : takenValue(conflicts.get(id), parseStoredJson(data) as RecordData),
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
