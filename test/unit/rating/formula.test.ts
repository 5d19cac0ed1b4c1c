import { readFile } from 'node:fs/promises';
import { assert } from 'chai';
import peggy from 'peggy';
import { decimalText, parseDecimal, type Decimal } from '../../../src/kernel/numbers/money.js';
import { compileFormula } from '../../../src/rating/formula/compile-formula.js';
import {
  evaluateFormula,
  FormulaError,
  type FormulaScope,
} from '../../../src/rating/formula/evaluate-formula.js';
import { Spending } from '../../../src/rating/operation-budget.js';
import { validateLogic, type LogicToValidate } from '../../../src/rating/formula/validate-logic.js';

const values = new Map<string, string>([
  ['qty', '7'],
  ['rate', '0.5'],
  ['region', 'eu'],
  ['API Calls', '20'],
  ['größe', '3'],
  ['_x1', '1'],
]);

function read(name: string): Decimal | string {
  const text = values.get(name);
  if (text === undefined) throw new FormulaError(`'${name}' is unknown`);
  return parseDecimal(text) ?? text;
}

/** Price(name, q) is q * 10, so that one sees that it was asked with the right quantity. */
const scope: FormulaScope = {
  spending: new Spending(1_000_000),
  readName: read,
  readQuoted: (text) => (values.has(text) ? read(text) : text),
  price(attribute, quantity) {
    read(attribute);
    return quantity.times(10);
  },
};

function evaluate(text: string): string {
  const compiled = compileFormula(text);
  if (!compiled.ok) return `${compiled.position}: ${compiled.message}`;
  try {
    const value = evaluateFormula(compiled.formula.expression, scope);
    return typeof value === 'string' ? `"${value}"` : decimalText(value);
  } catch (error) {
    if (error instanceof FormulaError) return `error: ${error.message}`;
    throw error;
  }
}

describe('rating/formula', () => {
  const evaluated: [formula: string, expected: string][] = [
    ['1', '1'],
    ['.5', '0.5'],
    ['0.1 + 0.2', '0.3'],
    ['2 + 3 * 4', '14'],
    ['(2 + 3) * 4', '20'],
    ['20 - 5 - 3', '12'],
    ['100 / 10 / 2', '5'],
    ['2 * 3 / 4', '1.5'],
    ['-2 * 3', '-6'],
    ['2 * -3', '-6'],
    ['2 - -3', '5'],
    ['--2', '2'],
    ['- - -2', '-2'],
    ['-(2 + 3)', '-5'],
    ['-qty + 10', '3'],
    ['1/3', `0.${'3'.repeat(60)}`],
    // 1/3 is cut at 60 digits, so three of them are not quite 1: rounding says 1.
    ['Round(1/3*3)', '1'],
    ['  qty\n*\trate ', '3.5'],
    ['qty*rate', '3.5'],
    ['größe * _x1', '3'],
    ['Ceil(7.001)', '8'],
    ['Ceil(-7.9)', '-7'],
    ['Ceil(-0.5)', '0'],
    ['Floor(7.9)', '7'],
    ['Floor(-7.1)', '-8'],
    ['Round(2.5)', '3'],
    ['Round(3.5)', '4'],
    ['Round(2.4999999)', '2'],
    ['Round(-2.5)', '-3'],
    ['Round(-2.4)', '-2'],
    ['Round(-0.4)', '0'],
    // 7 * 0.5 = 3.5; / 2 = 1.75; * 100 = 175
    ['Round(Ceil(qty * rate) / 3 * 100) / 100', '1.33'],
    ['Ceil(Floor(Round(1.5)))', '2'],
    ['Price(qty, 3)', '30'],
    ['Price(qty, qty + 1) * 2', '160'],
    ['Price(API Calls, 3)', '30'],
    ['Price(  API Calls  ,3)', '30'],
    ['Price("API Calls", 3)', '30'],
    ["Price('API Calls', 3)", '30'],
    ['Price ( qty , Ceil(0.2) )', '10'],
    ['Price(qty, Price(rate, 2))', '200'],
    ['"API Calls" / 4', '5'],
    ['"eu"', '"eu"'],
    ['\'it is "so"\'', '"it is "so""'],
    ['""', '""'],
    ['region', '"eu"'],
    // A name that only looks like a function.
    ['Round', "error: 'Round' is unknown"],
  ];
  for (const [formula, expected] of evaluated) {
    // spec/rating.md R43 to R46
    it(`${JSON.stringify(formula)} is ${expected}`, () => {
      assert.equal(evaluate(formula), expected);
    });
  }

  const failing: [formula: string, expected: string][] = [
    ['1 / 0', 'error: division by zero'],
    ['1 / (qty - 7)', 'error: division by zero'],
    ['0 / -0', 'error: division by zero'],
    ['region * 2', 'error: the text "eu" is no number for *'],
    ['2 + "x"', 'error: the text "x" is no number for +'],
    ['-region', 'error: the text "eu" is no number for -'],
    ['Ceil("1")', 'error: the text "1" is no number for Ceil'],
    ['Price(qty, region)', 'error: the text "eu" is no number for Price(qty)'],
    ['Price(qty, 0 - 1)', 'error: Price(qty) of a negative quantity'],
    [`Price(qty, ${'9'.repeat(38)} * 10)`, 'error: Price(qty) of too large a quantity'],
    [
      `${'9'.repeat(38)} * ${'9'.repeat(38)} * ${'9'.repeat(38)} * ${'9'.repeat(38)}`,
      'error: the number is too large',
    ],
    ['qyt', "error: 'qyt' is unknown"],
  ];
  for (const [formula, expected] of failing) {
    // spec/rating.md R49
    it(`${JSON.stringify(formula)} fails: ${expected}`, () => {
      assert.equal(evaluate(formula), expected);
    });
  }

  const deep = (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`;
  const unparsed: [formula: string, expected: RegExp][] = [
    ['', /^1: Expected .* but end of input found/],
    ['   ', /^4: /],
    ['1 +', /^4: /],
    ['1 2', /^3: /],
    ['2x', /^2: /],
    ['1..2', /^2: /],
    ['1.', /^2: /],
    ['(1', /^3: Expected "\)"/],
    ['1)', /^2: /],
    ['"open', /^1: /],
    ['+1', /^1: /],
    ['1 % 2', /^3: /],
    ['a = 1', /^3: /],
    ['a; b', /^2: /],
    ['round(1)', /^1: 'round' is not a function; there are Ceil, Floor, Round and Price$/],
    ['1 + Max(1, 2)', /^5: 'Max' is not a function/],
    ['Ceil()', /^6: /],
    ['Ceil(1, 2)', /^7: /],
    ['Price(qty)', /^10: Expected ","/],
    ['Price(qty,)', /^11: /],
    ['Price(, 1)', /^7: Expected the name of a priceable attribute/],
    ['Price(qty, 1, 2)', /^13: /],
    [`1 + ${'9'.repeat(39)}`, /^5: A number has at most 38 digits/],
    [`${' '.repeat(2000)}1`, /^null: A formula has at most 2000 characters/],
    [deep(51), /^51: Parentheses nest at most 50 deep/],
    ['('.repeat(2000), /^51: Parentheses nest/],
  ];
  for (const [formula, expected] of unparsed) {
    // spec/rating.md R48
    it(`${JSON.stringify(formula.slice(0, 30))} does not parse: ${expected.source}`, () => {
      assert.match(evaluate(formula), expected);
    });
  }

  const large: [name: string, formula: string, expected: string][] = [
    ['50 parentheses', deep(50), '1'],
    ['2,000 characters', `${' '.repeat(1999)}1`, '1'],
    ['1,000 operands', Array(1000).fill('1').join('+'), '1000'],
    ['1,999 signs', `${'-'.repeat(1999)}1`, '-1'],
    [
      'parentheses within quotes',
      `Ceil(1) + ("${'('.repeat(61)}")`,
      `error: the text "${'('.repeat(57)}..." is no number for +`,
    ],
  ];
  for (const [name, formula, expected] of large) {
    it(`takes ${name}`, () => {
      assert.equal(evaluate(formula), expected);
    });
  }

  it('the committed parser is the one that its grammar makes', async () => {
    const folder = new URL('../../../src/rating/formula/', import.meta.url);
    const grammar = await readFile(new URL('formula.peggy', folder), 'utf8');
    const committed = await readFile(new URL('formula-parser.js', folder), 'utf8');
    const generated = peggy.generate(grammar, { output: 'source', format: 'es' });
    assert.equal(committed.trim(), generated.trim(), 'run: npm run generate');
  });
});

describe('rating/validate-logic', () => {
  const attributes: LogicToValidate['attributes'] = [
    { name: 'api_calls', kind: 'PRICEABLE' },
    { name: 'API Calls', kind: 'PRICEABLE' },
    { name: 'region', kind: 'INPUT' },
  ];
  const problems = (steps: [name: string, formula: string][], priceOutput: string) =>
    validateLogic({
      attributes,
      cardAttributeNames: ['zone'],
      logic: { priceOutput, steps: steps.map(([name, formula]) => ({ name, formula })) },
    }).map(({ step, position, message }) => `${step}/${position}: ${message}`);

  const cases: [
    name: string,
    steps: [name: string, formula: string][],
    output: string,
    expected: string[],
  ][] = [
    [
      'steps, attributes and names of the card',
      [
        ['a', 'Price(API Calls, api_calls) + zone'],
        ['b', 'a * 2 + region'],
      ],
      'b',
      [],
    ],
    ['a quoted text that names nothing is a text', [['a', '"anything"']], 'a', []],
    ['a step of the name of an attribute', [['region', 'region * 2']], 'region', []],
    ['a lost output', [['a', '1']], 'b', ["null/null: priceOutput 'b' is not the name of a step"]],
    ['no steps', [], 'a', ["null/null: priceOutput 'a' is not the name of a step"]],
    [
      'two steps of one name',
      [
        ['a', '1'],
        ['a', '2'],
      ],
      'a',
      ["a/null: There are two steps named 'a'"],
    ],
    [
      'a later step',
      [
        ['a', '1 + b'],
        ['b', '1'],
      ],
      'b',
      ["a/5: 'b' is neither an earlier step nor an attribute"],
    ],
    ['itself', [['a', 'a + 1']], 'a', ["a/1: 'a' is neither an earlier step nor an attribute"]],
    [
      'Price of an input',
      [['a', 'Price(region, 1)']],
      'a',
      ["a/1: 'region' is not a priceable attribute"],
    ],
    [
      'Price of a step',
      [
        ['a', '1'],
        ['b', '2 * Price(a, 1)'],
      ],
      'b',
      ["b/5: 'a' is not a priceable attribute"],
    ],
    [
      'two faults',
      [['a', 'x + Price(y, z)']],
      'a',
      [
        "a/1: 'x' is neither an earlier step nor an attribute",
        "a/14: 'z' is neither an earlier step nor an attribute",
        "a/5: 'y' is not a priceable attribute",
      ],
    ],
  ];
  for (const [name, steps, output, expected] of cases) {
    // spec/rating.md R45, R48
    it(`${name}: ${expected.length} problems`, () => {
      assert.deepEqual(problems(steps, output), expected);
    });
  }

  it('tells where a formula does not parse', () => {
    assert.match(
      problems([['a', '1 + * 2']], 'a')[0] ?? '',
      /^a\/5: Expected .* but "\*" found\.$/,
    );
  });

  it('takes 200 steps and not 201', () => {
    const steps = (count: number) =>
      Array.from({ length: count }, (_, index): [string, string] => [`s${index}`, '1']);
    assert.deepEqual(problems(steps(200), 's0'), []);
    assert.deepEqual(problems(steps(201), 's0'), ['null/null: At most 200 steps are allowed']);
  });
});
