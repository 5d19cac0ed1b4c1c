import { Environment, type ASTNode } from '@marcbachmann/cel-js';

/** Characters of an expression. */
export const expressionLengthMax = 2_000;

/** What one evaluation may cost, in steps of about a microsecond (docs/decisions/0411). */
export const expressionCostMax = 100_000;
/** Of a condition on an event: it is asked of each, in a process that does other things, too. */
export const conditionCostMax = 10_000;

/** Why an expression is refused, and where in it. */
export class ExpressionFault extends Error {
  readonly position: number | null;

  constructor(message: string, position: number | null = null) {
    super(message);
    this.position = position;
  }
}

/** An expression that can be evaluated; the same expression, names and values always give the same. */
export interface Expression {
  readonly text: string;
  /** The variables that it reads. */
  readonly variables: ReadonlySet<string>;
  /** Of a variable whose fields are known by name: those that it reads. */
  fieldsOf(variable: string): readonly string[];
  /** Throws an ExpressionFault; `spend` is told of the cost. */
  evaluate(
    values: Readonly<Record<string, unknown>>,
    spend?: (cost: number) => void,
    costMax?: number,
  ): unknown;
}

/** Macros that visit each element of a list, with the place of the part that builds a value. */
const macros: Readonly<Record<string, 'builds' | 'decides'>> = {
  map: 'builds',
  filter: 'decides',
  all: 'decides',
  exists: 'decides',
  exists_one: 'decides',
};

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

/** The budget of the evaluation that is under way: evaluation is synchronous. */
let budget = { left: 0, kibibytes: 1, isSpent: false };

function charge(cost: number): void {
  budget.left -= cost;
  if (budget.left >= 0) return;
  budget.isSpent = true;
  throw new ExpressionFault('The expression costs more than it may.');
}

/** Values of a value, strings by their length; no more than `max` are counted. */
export function weightOf(value: unknown, max: number): number {
  let weight = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && weight <= max) {
    const one = waiting.pop();
    weight += 1;
    if (typeof one === 'string') weight += one.length >> 4;
    else if (typeof one === 'object' && one !== null) {
      const inner: unknown[] = Array.isArray(one) ? one : Object.values(one);
      if (weight + waiting.length + inner.length > max) return max + 1;
      waiting.push(...inner);
    }
  }
  return weight;
}

/** Called for each list before it is visited: what it will cost is known by its length. */
function chargeList(list: unknown, perElement: bigint, growingParts: bigint): unknown {
  const size = Array.isArray(list) ? list.length : Object.keys(list ?? {}).length;
  charge(size * (Number(perElement) + Number(growingParts) * budget.kibibytes));
  return list;
}

/** Called for each value that a list is built of. */
function chargeValue(value: unknown): unknown {
  charge(weightOf(value, budget.left));
  return value;
}

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
  environment.registerFunction('chargedList(dyn, int, int): dyn', chargeList);
  environment.registerFunction('chargedValue(dyn): dyn', chargeValue);
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

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && 'op' in value && 'range' in value;

/** The nodes right below a node. */
function childrenOf(node: ASTNode): ASTNode[] {
  const found: ASTNode[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isNode(value)) found.push(value);
  };
  visit(node.args);
  return found;
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

function insertionsOf(node: ASTNode, depth: number): Insertion[] {
  checkCall(node);
  const inner = childrenOf(node).flatMap((child) => insertionsOf(child, depth + 1));
  if (node.op !== 'rcall') return inner;
  const [name, receiver, args] = node.args;
  const kind = Object.hasOwn(macros, name) ? macros[name] : undefined;
  if (kind === undefined) return inner;
  const bodies = args.slice(1);
  const parts = bodies.reduce((sum, body) => sum + growingParts(body), 0);
  const each = bodies.reduce((sum, body) => sum + countOf(body), 1);
  const { start, end } = receiver.range;
  const around = [
    { at: start, text: 'chargedList(', rank: -depth },
    { at: end, text: `, ${each}, ${parts})`, rank: depth },
  ];
  const built = kind === 'builds' ? args.at(-1) : undefined;
  const value = built
    ? [
        { at: built.range.start, text: 'chargedValue(', rank: -depth },
        { at: built.range.end, text: ')', rank: depth },
      ]
    : [];
  return [...inner, ...around, ...value];
}

/** The expression with what counts its cost. */
function counted(text: string, ast: ASTNode): string {
  const insertions = insertionsOf(ast, 0).sort((a, b) => b.at - a.at || a.rank - b.rank);
  return insertions.reduce(
    (all, { at, text: part }) => all.slice(0, at) + part + all.slice(at),
    text,
  );
}

function variablesOf(node: ASTNode, hidden: ReadonlySet<string>, found: Set<string>): void {
  if (node.op === 'id' && !hidden.has(node.args)) found.add(node.args);
  if (node.op === 'rcall' && Object.hasOwn(macros, node.args[0])) {
    const [, receiver, [name, ...bodies]] = node.args;
    variablesOf(receiver, hidden, found);
    const own = name?.op === 'id' ? name.args : '';
    for (const body of bodies) variablesOf(body, new Set([...hidden, own]), found);
    return;
  }
  for (const child of childrenOf(node)) variablesOf(child, hidden, found);
}

/** The names after `variable.` wherever it is read; '*' where it is read as a whole. */
function fieldsIn(node: ASTNode, variable: string): string[] {
  if (node.op === 'id') return node.args === variable ? ['*'] : [];
  const [first] = childrenOf(node);
  if (node.op === '.' && first?.op === 'id' && first.args === variable) return [node.args[1]];
  return childrenOf(node).flatMap((child) => fieldsIn(child, variable));
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
  try {
    const parsed = environment.parse(text);
    ({ ast } = parsed);
    const inserted = counted(text, ast);
    const { valid, error } = parsed.check();
    if (!valid) throw error ?? new Error('The types do not fit.');
    run = environment.parse(inserted);
  } catch (error) {
    if (error instanceof ExpressionFault) throw error;
    throw new ExpressionFault(messageOf(error), positionOf(error));
  }
  // Of a checked tree macros are replaced by what they do.
  const shown = environment.parse(text).ast;
  variablesOf(shown, new Set(), variables);
  return {
    text,
    variables,
    fieldsOf: (variable) => fieldsIn(shown, variable),
    evaluate: (values, spend, costMax) => evaluate(run, values, spend, costMax),
  };
}

function evaluate(
  run: (values: Record<string, unknown>) => unknown,
  values: Readonly<Record<string, unknown>>,
  spend: (cost: number) => void = () => undefined,
  costMax = expressionCostMax,
): unknown {
  const weight = Object.values(values).reduce<number>(
    (sum, value) => sum + weightOf(value, 50_000),
    0,
  );
  const own = { left: costMax, kibibytes: Math.ceil((weight + 1) / 64), isSpent: false };
  budget = own;
  try {
    const result = run({ ...values });
    // `||` and `exists` go on after an error of one part.
    if (own.isSpent) throw new ExpressionFault('The expression costs more than it may.');
    return plainOf(result, 0);
  } catch (error) {
    if (own.isSpent) throw new ExpressionFault('The expression costs more than it may.');
    if (error instanceof ExpressionFault) throw error;
    throw new ExpressionFault(messageOf(error), positionOf(error));
  } finally {
    spend(Math.ceil(weight / 64) + costMax - Math.max(0, own.left));
  }
}

const valuesMax = 100_000;
const depthMax = 60;

/** A value of an expression as JSON has it. */
function plainOf(value: unknown, depth: number, count = { of: 0 }): unknown {
  count.of += 1;
  if (depth > depthMax || count.of > valuesMax) {
    throw new ExpressionFault('The value of the expression is too large.');
  }
  if (typeof value === 'bigint') return wholeOf(value);
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value;
    throw new ExpressionFault('The value of the expression is no finite number.');
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((one) => plainOf(one, depth + 1, count));
  if (typeof value === 'object') {
    const own = Object.getPrototypeOf(value) as unknown;
    if (own !== Object.prototype && own !== null && !(value instanceof Map)) return scalarOf(value);
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    return Object.fromEntries(
      entries.map(([name, one]) => [String(name), plainOf(one, depth + 1, count)]),
    );
  }
  throw new ExpressionFault('The value of the expression cannot be written as JSON.');
}

/** A duration in milliseconds as seconds, an unsigned number as a number. */
function scalarOf(value: object): unknown {
  const plain: unknown = value.valueOf();
  if (typeof plain === 'bigint') return wholeOf(plain);
  if (typeof plain === 'number') return `${plain / 1000}s`;
  throw new ExpressionFault('The value of the expression cannot be written as JSON.');
}

/** A whole number that a double has exactly is a number, any other a text. */
const wholeOf = (value: bigint): number | string =>
  BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))
    ? Number(value)
    : value.toString();
