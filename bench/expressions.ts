/**
 * What a unit of cost of an expression takes, for each kind of work: `npx tsx bench/expressions.ts`. Of each
 * kind an expression is evaluated until the expressions of one run of a task would have cost as much as they may,
 * or a definition would have no room for another one; nobody else has a turn meanwhile (docs/decisions/0456).
 * Time is that of the processor, the best of five.
 */
import { compileExpression } from '../src/kernel/expression/expression.js';
import { definitionLimits } from '../src/messages/definitions/definition.js';

const texts = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_each, at) => `${at} `.padEnd(length, 'x y'));
const numbers = (count: number): number[] => Array.from({ length: count }, (_each, at) => at);

/** Values as large as what a task gives may be. */
const values = {
  numbers: { n: numbers(40_000), one: 1 },
  records: {
    list: numbers(4_000).map((id) => ({ id, name: `name ${id}`, tags: ['a', 'b'], n: id / 7 })),
  },
  odd: { list: numbers(20_000), constructor: 1 },
  text: { t: 'xY '.repeat(85_000), u: 'xY '.repeat(84_999) + 'xZ ', w: texts(300, 12) },
  texts: { list: texts(4_000, 60) },
  few: { list: numbers(500), times: numbers(500).map(() => '2026-11-26T12:00:00Z') },
  lists: { a: numbers(20_000), b: [...numbers(19_999), -1] },
} as const;

const kinds: readonly [string, keyof typeof values, string][] = [
  ['nothing of a large value', 'numbers', 'x.one'],
  ['a large value as it is', 'numbers', 'x'],
  ['a large value in a list', 'records', '[x]'],
  ['nothing of a value with odd names', 'odd', 'size("")'],
  ['a long sum', 'few', Array.from({ length: 400 }, () => '1').join('+')],
  ['a long list', 'few', `[${Array.from({ length: 490 }, () => '[1]').join(',')}]`],
  [
    'a long map',
    'few',
    `{${numbers(150)
      .map((n) => `"n${n}":1`)
      .join(',')}}`,
  ],
  ['all', 'few', 'x.list.all(a, x.list.all(b, a + b < 100000))'],
  ['all of records', 'records', 'x.list.all(a, a.id >= 0 && a.n >= 0.0)'],
  ['filter of records', 'records', 'x.list.filter(a, a.id > 10)'],
  ['map to numbers', 'few', 'x.list.map(a, a * 2)'],
  ['map to doubles', 'few', 'x.list.map(a, a / 7)'],
  ['map to maps', 'few', 'x.list.map(a, {"id": a, "n": {"of": a}})'],
  ['map to lists', 'few', 'x.list.map(a, [a, a, a])'],
  ['map to what is there', 'records', 'x.list.map(a, a)'],
  ['map to texts', 'few', 'x.list.map(a, string(a))'],
  ['map to joined texts', 'few', 'x.list.map(a, "n" + string(a) + "m")'],
  ['map of texts in capitals', 'texts', 'x.list.map(a, a.upperAscii())'],
  ['map of texts that are split', 'texts', 'x.list.map(a, a.split("x"))'],
  ['times', 'few', 'x.times.all(a, timestamp(a).getFullYear() == 2026)'],
  ['durations', 'few', 'x.times.all(a, timestamp(a) + duration("1h") > timestamp(a))'],
  ['numbers of texts', 'few', 'x.list.all(a, double(string(a)) >= 0.0)'],
  ['exists of a member', 'records', 'x.list.exists(a, has(a.none))'],
  ['contains', 'text', 'x.t.contains("xZ")'],
  ['contains what nearly is there', 'text', 'x.t.contains("xY xY xY xY xY xY xY xZ")'],
  ['words in a text', 'text', 'x.w.filter(w, x.t.contains(w))'],
  ['lower case', 'text', 'size(x.t.lowerAscii())'],
  ['split', 'text', 'size(x.t.split(" "))'],
  ['split and join', 'text', 'size(x.t.split(" ").join("-"))'],
  ['length', 'text', 'size(x.t)'],
  ['trim', 'text', 'size(x.t.trim())'],
  ['last index', 'text', 'x.t.lastIndexOf("Z")'],
  ['part of a text', 'text', 'x.t.substring(1, 100000)'],
  ['texts that are joined', 'text', 'size(x.t + x.u)'],
  ['same text', 'text', 'x.t == x.u'],
  ['same list', 'lists', 'x.a == x.b'],
  ['in a list', 'lists', '-2 in x.a'],
  ['each in a list', 'few', 'x.list.all(a, a in x.list)'],
  ['same list for each', 'few', 'x.list.exists(a, x.list == x.times)'],
];

interface Spent {
  readonly ms: number;
  readonly units: number;
  readonly times: number;
}

/** One run of a task that does nothing but this. */
function runOnce(text: string, x: unknown): Spent {
  const compiled = compileExpression(text, ['x']);
  const most = definitionLimits.bytes / (text.length + '"aaaa":"${  }",'.length);
  let units = 0;
  let times = 0;
  const since = process.cpuUsage();
  while (units < definitionLimits.taskCost && times < most) {
    times += 1;
    try {
      compiled.evaluate({ x }, (cost, looked, parted) => (units += cost + looked + parted));
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('costs more')) throw error;
    }
  }
  const { user, system } = process.cpuUsage(since);
  return { ms: (user + system) / 1000, units, times };
}

console.log('kind'.padEnd(36), 'times', '   units', '     ms', 'ns/unit');
for (const [name, of, text] of kinds) {
  // Anew for each, as an execution has them.
  const runs = [0, 1, 2, 3, 4].map(() => runOnce(text, structuredClone(values[of])));
  const best = runs.reduce((one, other) => (other.ms < one.ms ? other : one));
  console.log(
    name.padEnd(36),
    String(best.times).padStart(5),
    String(best.units).padStart(8),
    best.ms.toFixed(1).padStart(7),
    ((best.ms * 1e6) / Math.max(1, best.units)).toFixed(0).padStart(7),
  );
}
