import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import {
  chargeCompared,
  chargeList,
  chargeText,
  chargeValue,
  givenTo,
  keptName,
  lostNames,
  openBudget,
  taking,
} from './expression-budget.js';
import { CostFault, ExpressionFault } from './expression-fault.js';
import {
  childrenOf,
  fieldsIn,
  isMacro,
  lookedAtIn,
  macros,
  variablesOf,
} from './expression-tree.js';
import { plainOf, readable, weighVariable, weightMax } from './expression-value.js';

/** Characters of an expression. */
export const expressionLengthMax = 2_000;

/** What one evaluation may cost, in steps of about a microsecond (docs/decisions/0411). */
export const expressionCostMax = 100_000;
/** Of a condition on an event: it is asked of each, in a process that does other things, too. */
export const conditionCostMax = 10_000;

/** The cost of an expression, what was looked through, and how much more of that functions took apart. */
export type Spend = (cost: number, looked: number, parted: number) => void;

/** An expression that can be evaluated; the same expression, names and values always give the same. */
export interface Expression {
  readonly text: string;
  /** What it gives, as far as that is known before: `bool`, `list<int>`, `dyn` for anything. */
  readonly type: string;
  /** The variables that it reads. */
  readonly variables: ReadonlySet<string>;
  /** Of a variable whose fields are known by name: those that it reads. */
  fieldsOf(variable: string): readonly string[];
  /** Where such a field is not only passed on, alone or joined with others, but looked at. */
  lookedAt(variable: string): readonly number[];
  /** Throws an ExpressionFault; `spend` is told of it. */
  evaluate(
    values: Readonly<Record<string, unknown>>,
    spend?: Spend,
    costMax?: number,
    lookedMax?: number,
  ): unknown;
}

/**
 * Functions that an expression may call. `matches` is not among them, since the regular expressions of
 * JavaScript have no bound, nor what reads the time zone of the machine, nor `bind`, with which values
 * double with each word.
 */
const functions = new Set(
  (
    'bool double dyn duration has int size string timestamp type ' +
    'contains endsWith startsWith join split trim indexOf lastIndexOf substring lowerAscii ' +
    'upperAscii getDate getDayOfMonth getDayOfWeek getFullYear getHours getMilliseconds ' +
    'getMinutes getMonth getSeconds'
  ).split(' '),
);
const ofTime = /^get[A-Z]/;

/** Operators whose cost grows with what they are given, unless one side is a literal. */
const growing = new Set(['==', '!=', 'in', '+']);

const limits = { maxAstNodes: 1_000, maxDepth: 40, maxListElements: 500, maxMapEntries: 500 };

type Binary = (left: number, right: number) => number;
const arithmetic: Readonly<Record<string, Binary>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
};

function newEnvironment(): Environment {
  const environment = new Environment({ homogeneousAggregateLiterals: false, limits });
  // Numbers of JSON are doubles, those in an expression mostly ints.
  for (const [sign, work] of Object.entries(arithmetic)) {
    environment.registerOperator(`double ${sign} int`, (left: number, right: bigint) =>
      work(left, Number(right)),
    );
    environment.registerOperator(`int ${sign} double`, (left: bigint, right: number) =>
      work(Number(left), right),
    );
  }
  const counting = [
    { name: 'chargedValue', charge: chargeValue },
    { name: 'chargedText', charge: chargeText },
    { name: 'chargedCompared', charge: chargeCompared },
    { name: 'keptName', charge: keptName },
    ...Object.values(taking),
    ...Object.values(givenTo),
  ];
  // Made anew: the library keeps something with each, and modules that executions share are frozen.
  for (const [name, chargeOf] of new Map(counting.map((one) => [one.name, one.charge]))) {
    environment.registerFunction(`${name}(dyn): dyn`, (value: unknown) => chargeOf(value));
  }
  environment.registerFunction(
    'chargedList(dyn, int, int): dyn',
    (list: unknown, perElement: bigint, growingParts: bigint) =>
      chargeList(list, perElement, growingParts),
  );
  return environment;
}

const environments = new Map<string, Environment>();
const environmentsMax = 500;

function environmentOf(names: readonly string[]): Environment {
  const key = [...names].sort().join(' ');
  const known = environments.get(key);
  if (known) return known;
  const environment = newEnvironment();
  for (const name of names) environment.registerVariable(name, 'dyn');
  if (environments.size >= environmentsMax) environments.clear();
  environments.set(key, environment);
  return environment;
}

/** How many parts of a node cost what their values weigh, without those that are visited themselves. */
function growingParts(node: ASTNode): number {
  const children = childrenOf(node);
  const isCall = node.op === 'call' || node.op === 'rcall';
  const isPlain = children.some(({ op }) => op === 'value');
  const own = (growing.has(node.op) && !isPlain) || (isCall && node.args[0] !== 'has') ? 1 : 0;
  return children.reduce((sum, child) => sum + growingParts(child), own);
}

const countOf = (node: ASTNode): number =>
  childrenOf(node).reduce((sum, child) => sum + countOf(child), 1);

/** Text that is put into an expression, so that it counts what it costs. */
interface Insertion {
  readonly at: number;
  readonly text: string;
  /** Of several at one place the greatest stands first. */
  readonly rank: number;
}

/** JSON has no bytes, so that nothing can be done with them. */
function checkValue(node: ASTNode): void {
  if (node.op !== 'value' || !(node.args instanceof Uint8Array)) return;
  throw new ExpressionFault('There are no bytes here: write a text, "...".', node.range.start);
}

/** Names of a map: those that are written out are known, others are looked at when it is built. */
function insertionsOfMap(node: ASTNode): Insertion[] {
  if (node.op !== 'map') return [];
  return node.args.flatMap(([name]): Insertion[] => {
    const { start, end } = name.range;
    if (name.op !== 'value') {
      return [
        { at: start, text: 'keptName(', rank: -1_000 },
        { at: end, text: ')', rank: 1_000 },
      ];
    }
    if (!lostNames.has(String(name.args))) return [];
    throw new ExpressionFault(`'${String(name.args)}' cannot be a name in a map.`, start);
  });
}

function checkCall(node: ASTNode): void {
  if (node.op !== 'call' && node.op !== 'rcall') return;
  const [name] = node.args;
  const given = node.op === 'call' ? node.args[1] : node.args[2];
  if (node.op === 'rcall' && Object.hasOwn(macros, name)) return;
  if (!functions.has(name)) {
    throw new ExpressionFault(`There is no function '${name}'.`, node.range.start);
  }
  if (ofTime.test(name) && given.length > 0) {
    throw new ExpressionFault(`'${name}' takes no time zone: instants are UTC.`, node.range.start);
  }
}

/** A node with a function around it; of several that begin at one place the outer one stands first. */
const around = ({ range }: ASTNode, name: string, depth: number): Insertion[] => [
  { at: range.start, text: `${name}(`, rank: -depth },
  { at: range.end, text: ')', rank: depth },
];

/**
 * What is looked through here, and what was put together for it: it costs what it is long. What is done with
 * each element of a list has its share of that before the list is visited; `isOnce`: this is not.
 */
function insertionsOfSizes(node: ASTNode, depth: number, isOnce: boolean): Insertion[] {
  if (isMacro(node) || node.op === '+' || node.op === 'id' || node.op === 'value') return [];
  const children = childrenOf(node);
  const isCall = node.op === 'call' || node.op === 'rcall';
  const isCompared = node.op === '==' || node.op === '!=' || node.op === 'in';
  const isPlain = children.some(({ op }) => op === 'value');
  const compared = isCompared && !isPlain ? children[node.op === 'in' ? 1 : 0] : undefined;
  const found = children.flatMap((child, at) => {
    if (isOnce && child === compared) return around(child, 'chargedCompared', depth);
    const isLookedThrough = isOnce && isCall && at === 0 && child.op !== 'value';
    const taken = isLookedThrough && Object.hasOwn(taking, node.args[0]) && taking[node.args[0]];
    if (taken) return around(child, taken.name, depth);
    return isLookedThrough || child.op === '+' ? around(child, 'chargedText', depth) : [];
  });
  const isJoined = node.op === 'rcall' && node.args[0] === 'join';
  return isJoined ? [...found, ...around(node, 'chargedText', depth)] : found;
}

/** Around what a function is given in brackets, where its length costs more than what it is done to. */
function insertionsOfGiven(node: ASTNode, depth: number): Insertion[] {
  if (node.op !== 'call' && node.op !== 'rcall') return [];
  const [name] = node.args;
  const [first] = node.op === 'call' ? node.args[1] : node.args[2];
  const asked = Object.hasOwn(givenTo, name) ? givenTo[name] : undefined;
  return first && asked ? around(first, asked.name, depth) : [];
}

function insertionsOf(node: ASTNode, depth: number, isOnce = true): Insertion[] {
  checkCall(node);
  checkValue(node);
  // It is asked of a name as it is written.
  if (node.op === 'call' && node.args[0] === 'has') return [];
  const inner = [
    ...insertionsOfMap(node),
    ...insertionsOfSizes(node, depth, isOnce),
    ...insertionsOfGiven(node, depth),
    ...childrenOf(node).flatMap((child, at) =>
      insertionsOf(child, depth + 1, isOnce && (at === 0 || !isMacro(node))),
    ),
  ];
  if (node.op !== 'rcall') return inner;
  const [name, receiver, args] = node.args;
  const kind = Object.hasOwn(macros, name) ? macros[name] : undefined;
  if (kind === undefined) return inner;
  const bodies = args.slice(1);
  const parts = bodies.reduce((sum, body) => sum + growingParts(body), 0);
  const each = bodies.reduce((sum, body) => sum + countOf(body), 1);
  const { start, end } = receiver.range;
  const visited = [
    { at: start, text: 'chargedList(', rank: -depth },
    { at: end, text: `, ${each}, ${parts})`, rank: depth },
  ];
  const built = kind === 'builds' ? args.at(-1) : undefined;
  return [...inner, ...visited, ...(built ? around(built, 'chargedValue', depth) : [])];
}

/** The expression with what counts its cost. */
function counted(text: string, ast: ASTNode): string {
  const insertions = insertionsOf(ast, 0).sort((a, b) => b.at - a.at || a.rank - b.rank);
  return insertions.reduce(
    (all, { at, text: part }) => all.slice(0, at) + part + all.slice(at),
    text,
  );
}

const messageOf = (error: unknown): string => {
  const { summary, message } = error as { summary?: string; message?: string };
  return (summary ?? message ?? String(error)).split('\n')[0] ?? '';
};

const positionOf = (error: unknown): number | null =>
  (error as { range?: { start?: number } }).range?.start ?? null;

/**
 * Expressions that were compiled last: to compile one costs ten times what evaluating it does. By their
 * characters, about 200 bytes each; all executions of tenants' workflows in a process have them together.
 */
const compiled = { of: new Map<string, Expression>(), characters: 0 };
const compiledMax = 50_000;

/** The same expression over the same variables as it was compiled before, where it still is. */
export function compileExpression(text: string, names: readonly string[]): Expression {
  const key = `${names.join(' ')}\n${text}`;
  const known = compiled.of.get(key);
  if (known) return known;
  const made = compile(text, names);
  if (compiled.characters + text.length > compiledMax) {
    compiled.of.clear();
    compiled.characters = 0;
  }
  compiled.of.set(key, made);
  compiled.characters += text.length;
  return made;
}

/** Types whose values cannot be written down. */
const notJson = /\b(bytes|type)\b/;

/**
 * Compiles an expression in CEL over these variables. Throws an ExpressionFault for what is no
 * expression, an unknown variable or function, and what has types that never fit.
 */
function compile(text: string, names: readonly string[]): Expression {
  if (text.length > expressionLengthMax) {
    throw new ExpressionFault(`An expression has at most ${expressionLengthMax} characters.`);
  }
  const environment = environmentOf(names);
  const variables = new Set<string>();
  let ast: ASTNode;
  let run: (values: Record<string, unknown>) => unknown;
  let type: string;
  try {
    const parsed = environment.parse(text);
    ({ ast } = parsed);
    const inserted = counted(text, ast);
    const checked = parsed.check();
    if (!checked.valid) throw checked.error ?? new Error('The types do not fit.');
    type = checked.type ?? 'dyn';
    run = environment.parse(inserted);
  } catch (error) {
    if (error instanceof ExpressionFault) throw error;
    throw new ExpressionFault(messageOf(error), positionOf(error));
  }
  if (notJson.test(type)) throw new ExpressionFault(`It gives ${type}, which JSON has not.`);
  // Of a checked tree macros are replaced by what they do.
  const shown = environment.parse(text).ast;
  variablesOf(shown, new Set(), variables);
  return {
    text,
    type,
    variables,
    fieldsOf: (variable) => fieldsIn(shown, variable),
    lookedAt: (variable) => lookedAtIn(shown, variable),
    evaluate: (...given) => evaluate(run, ...given),
  };
}

const readableOf = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, readable(value)]));

function evaluate(
  run: (values: Record<string, unknown>) => unknown,
  values: Readonly<Record<string, unknown>>,
  spend: Spend = () => undefined,
  costMax = expressionCostMax,
  lookedMax = expressionCostMax,
): unknown {
  const weighed = Object.values(values).map(weighVariable);
  const weight = weighed.reduce((sum, one) => sum + one.weight, 0);
  // A value that is too large to be looked through may have such names, too.
  const isOdd = weighed.some((one) => one.isOdd || one.weight > weightMax);
  const kibibytes = Math.ceil((weight + 1) / 64);
  const own = { left: costMax, looked: lookedMax, parted: 0, kibibytes, isSpent: false };
  openBudget(own);
  try {
    const result = run(isOdd ? readableOf(values) : { ...values });
    // `||` and `exists` go on after an error of one part.
    if (own.isSpent) throw new CostFault();
    return plainOf(result);
  } catch (error) {
    if (own.isSpent) throw new CostFault();
    if (error instanceof ExpressionFault) throw error;
    throw new ExpressionFault(messageOf(error), positionOf(error));
  } finally {
    const cost = Math.ceil(weight / (isOdd ? 8 : 64)) + costMax - Math.max(0, own.left);
    spend(cost, lookedMax - Math.max(0, own.looked), own.parted);
  }
}
