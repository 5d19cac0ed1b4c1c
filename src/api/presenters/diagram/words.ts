import { isObject } from '../../../kernel/expression/json-schema-check.js';
import {
  expressionIn,
  kindOf,
  type CallSpec,
  type Definition,
  type DurationSpec,
  type EventFilter,
  type Task,
  type TaskList,
} from '../../../messages/definitions/definition.js';

/** A text on one line, an expression without its braces. */
const plain = (value: unknown): string =>
  typeof value === 'string' ? (expressionIn(value) ?? value).replace(/\s+/g, ' ').trim() : '';

const duration = (spec: DurationSpec | undefined): string =>
  typeof spec === 'string'
    ? spec
    : Object.entries(spec ?? {})
        .map(([unit, count]) => `${count} ${unit}`)
        .join(' ');

const eventOf = ({ with: { type, data } }: { readonly with: EventFilter }): string =>
  data === undefined ? type : `${type} where ${plain(data)}`;

/** What is called, with what tells one such call from another. */
function callWords({ call, with: given }: CallSpec): string {
  const named = isObject(given) ? given : {};
  if (call === 'http') return `${plain(named['method'])} ${plain(named['endpoint'])}`;
  const detail = { 'durabill.operation': 'operationId', 'durabill.approval': 'title' }[call];
  const words = detail === undefined ? '' : plain(named[detail]);
  return words === '' ? call : `${call.replace('durabill.', '')}: ${words}`;
}

function catchWords({ catch: caught = {} }: Task): string {
  const { errors, when, exceptWhen, retry } = caught;
  const filter = Object.entries(errors?.with ?? {}).map(
    ([name, value]) => `${name} ${String(value)}`,
  );
  return [
    ['catch', ...filter].join(' '),
    ...(when === undefined ? [] : [`when ${plain(when)}`]),
    ...(exceptWhen === undefined ? [] : [`except ${plain(exceptWhen)}`]),
    ...(retry ? [`retry ${retry.limit?.attempt?.count ?? 5} times`] : []),
  ].join(', ');
}

function listenWords({ listen }: Task): string {
  const { one, any = [] } = listen?.to ?? {};
  const events = (one ? [one] : any).map(eventOf).join(' or ');
  const most = listen?.timeout === undefined ? '' : `, at most ${duration(listen.timeout)}`;
  return `wait for ${events}${most}`;
}

function setWords({ set }: Task): string {
  return `set ${isObject(set) ? Object.keys(set).join(', ') : plain(set)}`;
}

/** What a task does, in a few words. */
export function taskWords(task: Task): string {
  switch (kindOf(task)) {
    case 'call':
      return callWords({ call: task.call ?? '', with: task.with });
    case 'for':
      return `for each ${task.for?.each ?? 'item'} in ${plain(task.for?.in)}`;
    case 'fork':
      return task.fork?.compete === true ? 'side by side, the first wins' : 'side by side';
    case 'switch':
      return 'switch';
    case 'set':
      return setWords(task);
    case 'try':
      return catchWords(task);
    case 'raise':
      return `raise ${Number(task.raise?.error['status'])} ${plain(task.raise?.error['title'])}`;
    case 'wait':
      return `wait ${duration(task.wait)}`;
    case 'listen':
      return listenWords(task);
    case 'emit':
      return `emit ${task.emit?.event.with.type ?? ''}`;
    default:
      return 'in order';
  }
}

/** What is said of a task beside what it does: its condition, and what takes it back. */
export function sideWords(task: Task): string[] {
  const undo = task['durabill.undo'];
  return [
    ...(task.if === undefined ? [] : [`if ${plain(task.if)}`]),
    ...(task.while === undefined ? [] : [`while ${plain(task.while)}`]),
    ...(undo ? [`undone by ${callWords(undo)}`] : []),
  ];
}

/** The case of a switch. */
export const caseWords = (name: string, when: string | undefined): string =>
  when === undefined ? `${name}: otherwise` : `${name}: ${plain(when)}`;

/** What starts it by itself. */
export function startWords({ schedule }: Definition): string {
  if (schedule?.on) return `on ${eventOf(schedule.on.one)}`;
  if (schedule?.cron === undefined) return 'start';
  return `at ${schedule.cron} ${schedule.timeZone ?? 'UTC'}`;
}

/** The lists of tasks in a task, with what each is to it. */
export function listsOf(task: Task): (readonly [what: string, list: TaskList])[] {
  switch (kindOf(task)) {
    case 'do':
    case 'for':
      return [['', task.do ?? []]];
    case 'fork':
      return [['', task.fork?.branches ?? []]];
    case 'try':
      return [
        ['', task.try ?? []],
        ['catch', task.catch?.do ?? []],
      ];
    default:
      return [];
  }
}

/** A definition told in sentences, for those who do not see its picture. */
export function tellTasks(list: TaskList, number = ''): string[] {
  return list.flatMap((item, index) => {
    const [[name, task] = ['', {}]] = Object.entries(item);
    const own = `${number}${index + 1}`;
    const goesOn = task.then === undefined ? [] : [`then ${task.then}`];
    const cases = (task.switch ?? []).flatMap((one) =>
      Object.entries(one).map(
        ([label, { when, then }]) => `${caseWords(label, when)}, then ${then}`,
      ),
    );
    const said = [`${name}: ${taskWords(task)}`, ...sideWords(task), ...cases, ...goesOn].join(
      '; ',
    );
    return [
      `${own}. ${said}.`,
      ...listsOf(task).flatMap(([what, inner]) =>
        tellTasks(inner, `${own}.${what === '' ? '' : `${what} `}`),
      ),
    ];
  });
}
