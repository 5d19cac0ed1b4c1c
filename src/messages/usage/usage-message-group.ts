import { joinJson, splitJson } from '../../kernel/text/postgres-array.js';
import type { UsageRecord } from '../usage-log.js';

/**
 * The most messages of one row of `usage_message`: enough that PostgreSQL compresses them to a third,
 * few enough that reading one of them costs some 20 microseconds.
 */
export const groupCountMax = 32;
/** A message of more characters is alone in its row, so that the others are about as long as each other. */
const longMessage = 4_096;
const groupLengthMax = 32 * 1024;

type Content = Pick<UsageRecord, 'key' | 'orgId' | 'message'> & { readonly trace?: string | null };

/** Messages in their order, divided into those of a row each. */
export function groupsOf<T extends Content>(contents: readonly T[]): T[][] {
  const groups: T[][] = [];
  let length = Infinity;
  for (const content of contents) {
    const last = groups.at(-1);
    const own = content.message.length;
    if (
      last &&
      last.length < groupCountMax &&
      own <= longMessage &&
      length + own <= groupLengthMax
    ) {
      last.push(content);
      length += own;
    } else {
      groups.push([content]);
      length = own > longMessage ? Infinity : own;
    }
  }
  return groups;
}

/** The columns of a row; an empty text where no message has a value. */
export interface GroupTexts {
  readonly messages: string;
  readonly keys: string;
  readonly orgIds: string;
  readonly traces: string;
}

const listOf = (values: readonly (string | null | undefined)[]): string =>
  values.every((value) => value === null || value === undefined)
    ? ''
    : JSON.stringify(values.map((value) => value ?? null));

/** Throws when a message is no JSON. */
export function groupTexts(of: readonly Content[]): GroupTexts {
  const messages = joinJson(of.map(({ message }) => message));
  if (messages === null) throw new Error('A message is no JSON text.');
  return {
    messages,
    keys: listOf(of.map(({ key }) => key)),
    orgIds: listOf(of.map(({ orgId }) => orgId)),
    traces: listOf(of.map(({ trace }) => trace)),
  };
}

/** A row as it is read; offsets are `bigint`, so text. */
export interface GroupRow {
  readonly firstOffset: string;
  readonly messages: string;
  readonly keys: string | null;
  readonly orgIds: string | null;
  readonly traces: string | null;
  readonly receivedAt: Date;
}

const valuesOf = (list: string | null): readonly (string | null)[] =>
  list === null ? [] : (JSON.parse(list) as (string | null)[]);

/** The records of a row, in the order of their offsets. */
export function recordsOf(row: GroupRow): UsageRecord[] {
  const first = Number(row.firstOffset);
  const [keys, orgIds, traces] = [valuesOf(row.keys), valuesOf(row.orgIds), valuesOf(row.traces)];
  return splitJson(row.messages).map((message, index) => ({
    offset: first + index,
    key: keys[index] ?? null,
    orgId: orgIds[index] ?? null,
    message,
    receivedAt: row.receivedAt,
    trace: traces[index] ?? null,
  }));
}
