import { isObject, type Fault } from '../../kernel/expression/json-schema-check.js';
import { nextOccurrence } from '../../kernel/time/cron.js';
import type { Schedule } from '../../messages/definitions/definition.js';
import { eventKindsText, isEventKind } from '../../messages/definitions/event.js';
import type { DefinitionCheck } from './check-definition.js';

/** Minute, hour, day of the month, month and day of the week, with their greatest values. */
const fields = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12 },
  { name: 'day of the week', least: 0, most: 7 },
];
const part = /^(\*|(\d{1,2})(-(\d{1,2}))?)(\/(\d{1,2}))?$/;

function isPart(text: string, { least, most }: { least: number; most: number }): boolean {
  const match = part.exec(text);
  if (!match) return false;
  const [, , from, , to, , step] = match;
  const numbers = [from, to].filter((one) => one !== undefined).map(Number);
  if (numbers.some((one) => one < least || one > most)) return false;
  if (numbers.length === 2 && Number(from) > Number(to)) return false;
  return step === undefined || Number(step) >= 1;
}

/** Why a text is no cron of five fields; undefined for one that is. */
export function cronFault(cron: string): string | undefined {
  const given = cron.trim().split(/\s+/);
  if (given.length !== fields.length) {
    return 'has five fields: minute, hour, day of the month, month, day of the week';
  }
  const wrong = fields.find((field, index) =>
    (given[index] ?? '').split(',').some((one) => !isPart(one, field)),
  );
  if (wrong)
    return `has no valid ${wrong.name}: a number from ${wrong.least} to ${wrong.most}, *, 1-5, */10 or a list`;
  if (!/^\d{1,2}(,\d{1,2}){0,3}$/.test(given[0] ?? '')) {
    return 'runs at most four times an hour: name the minutes, such as 0 or 0,30';
  }
  return nextOccurrence({ cron }, new Date(0)) ? undefined : 'names a day that never comes';
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Faults of what starts a definition by itself (spec/beyond.md R324). */
export function scheduleFaults(schedule: Partial<Schedule>, check: DefinitionCheck): Fault[] {
  const { on, cron, timeZone } = schedule;
  const faults: Fault[] = [];
  const add = (place: string, message: string) =>
    faults.push({ pointer: `/schedule${place}`, message });
  if ((on === undefined) === (cron === undefined)) add('', "must have 'on' or 'cron'");
  if (typeof cron === 'string') {
    const fault = cronFault(cron);
    if (fault !== undefined) add('/cron', fault);
  }
  if (timeZone !== undefined && cron === undefined) add('/timeZone', "is of 'cron'");
  if (typeof timeZone === 'string' && !isTimeZone(timeZone)) {
    add('/timeZone', `'${timeZone.slice(0, 64)}' is no time zone, such as Europe/Berlin`);
  }
  const filter = on?.one?.with;
  if (!isObject(filter)) return faults;
  const { type, data } = filter;
  if (typeof type === 'string' && !isEventKind(type)) {
    add('/on/one/with/type', `'${type.slice(0, 100)}' must be one of: ${eventKindsText}`);
  }
  if (typeof data === 'string') check.condition(data, '/schedule/on/one/with/data', ['data']);
  return faults;
}
