import { expect } from 'chai';
import {
  compileExpression,
  conditionCostMax,
  expressionCostMax,
} from '../../../src/kernel/expression/expression.js';
import { shapeFaults, valueFaults } from '../../../src/kernel/expression/json-schema-check.js';

const evaluate = (text: string, values: Record<string, unknown> = {}): unknown =>
  compileExpression(text, Object.keys(values)).evaluate(values);
/** As JSON has it, where no name has a meaning of its own. */
const odd = JSON.parse('{"constructor": {"n": 5}, "__proto__": 2, "toString": [3]}') as object;
const many = Array.from({ length: 2_000 }, (_each, id) => ({ id, name: 'n'.repeat(50) }));

describe('expressions of definitions', () => {
  const table: readonly [string, Record<string, unknown>, unknown][] = [
    ['input.n + 1', { input: { n: 5 } }, 6],
    ['1 + input.n * 2.5', { input: { n: 5 } }, 13.5],
    ['input.x.map(y, y.a + 1).filter(z, z > 2)', { input: { x: [{ a: 1 }, { a: 2 }] } }, [3]],
    ['has(input.constructor) || has(input.__proto__)', { input: {} }, false],
    ['input.constructor.n + 1', { input: odd }, 6],
    ['input["__proto__"] + input.toString[0]', { input: odd }, 5],
    ['input', { input: odd }, odd],
    ['[input, 1][0].constructor', { input: odd }, { n: 5 }],
    ['input.map(name, name)', { input: odd }, ['constructor', '__proto__', 'toString']],
    ['input.list.exists(x, x.constructor == 1)', { input: { list: [{ constructor: 1 }] } }, true],
    ['"constructor" in input && has(input.constructor)', { input: odd }, true],
    ['input == other', { input: odd, other: structuredClone(odd) }, true],
    ['"toString" in input || has(input.valueOf)', { input: {} }, false],
    ['input.a == 1 ? "one" : "other"', { input: { a: 1 } }, 'one'],
    ['timestamp("2026-01-31T00:00:00Z") + duration("24h")', {}, '2026-02-01T00:00:00.000Z'],
    ['9007199254740993', {}, '9007199254740993'],
    ['size(input.a + input.b) + size("x" + "y")', { input: { a: 'a', b: 'bc' } }, 5],
    ['(input.a + "b").upperAscii().contains("A" + "B")', { input: { a: 'a' } }, true],
    ['[input.a + "b", "c"].join("," + input.a)', { input: { a: 'a' } }, 'ab,ac'],
    ['input.a + "b" == "a" + input.b && input.a != input.b', { input: { a: 'a', b: 'b' } }, true],
    ['input.a + "b" in input.l', { input: { a: 'a', l: ['ab'] } }, true],
    ['has(input.a.b) ? input.l + [1] == [input.a] : false', { input: { a: {}, l: [] } }, false],
    [
      'input.l.map(x, x + "b").exists(x, x == input.a + "b")',
      { input: { a: 'a', l: ['a'] } },
      true,
    ],
    ['{"a": [1, 2.5, null, true]}', {}, { a: [1, 2.5, null, true] }],
  ];
  for (const [text, values, expected] of table) {
    it(`${text} gives ${JSON.stringify(expected)}`, () => {
      expect(evaluate(text, values)).to.deep.equal(expected);
    });
  }

  const refused: readonly [string, RegExp][] = [
    ['input.s.matches("(a+)+$")', /no function 'matches'/],
    ['cel.bind(x, 1, x)', /no function 'bind'/],
    ['chargedValue(1)', /no function/],
    ['timestamp("2026-01-01T00:00:00Z").getHours("Europe/Berlin")', /no time zone/],
    ['nothing == 1', /Unknown variable: nothing/],
    ['"a" + 1', /no such overload/],
    ['b"abc"', /no bytes/],
    ['[type(input)]', /list<type>, which JSON has not/],
    ['{"__proto__": 1}', /'__proto__' cannot be a name/],
    ['1 +', /Unexpected token/],
  ];
  for (const [text, message] of refused) {
    it(`${text} is refused`, () => {
      expect(() => compileExpression(text, ['input'])).to.throw(message);
    });
  }

  it('a map with a name that is not known before says that it cannot be one', () => {
    expect(evaluate('{input: 1}', { input: 'a' })).to.deep.equal({ a: 1 });
    for (const input of ['constructor', '__proto__', 'prototype']) {
      expect(() => evaluate('[{"a": 1, input: 1}]', { input })).to.throw(/cannot be a name/);
    }
  });

  it('a value with a constructor counts as much as any other', () => {
    const spent = [many, [...many, { constructor: 1 }]].map((x) => {
      let cost = 0;
      compileExpression('x.all(a, a != 1)', ['x']).evaluate({ x }, (more) => (cost += more));
      return cost;
    });
    expect(spent[1]).to.be.at.least(spent[0] ?? 0);
  });

  const text = 'xY'.repeat(125_000);
  const sum = Array.from({ length: 150 }, () => 'x.t').join('+');
  const forms: readonly string[] = [
    `size((${sum}).lowerAscii())`,
    `(${sum}).split("x") == []`,
    `(${sum}) == ""`,
    `["", ""].join(${sum})`,
    Array.from({ length: 80 }, () => 'size(x.t.split("x"))').join('+'),
    Array.from({ length: 90 }, () => 'x.l==x.m').join('||'),
  ];
  for (const one of forms) {
    it(`${one.slice(0, 30)}… costs what its values are long`, () => {
      const l = Array.from({ length: 20_000 }, (_each, at) => at);
      const x = { t: text, l, m: [...l.slice(0, -1), -1] };
      const since = process.cpuUsage();
      expect(() => evaluate(one, { x })).to.throw(/costs more/);
      expect(process.cpuUsage(since).user).to.be.below(500_000);
    });
  }

  // spec/beyond.md R409
  const apart: readonly [string, number][] = [
    // A quarter of the characters, where parts are made of them, and a sixteenth, where they are counted.
    ['x.t.split(" ") == []', 62_500],
    ['size(x.t) == 0', 15_625],
    ['size(x.t.split(" ")) == 0', 62_500],
    ['x.t.contains("z")', 0],
    ['x.words.all(w, size(w) > 9)', 0],
  ];
  for (const [one, expected] of apart) {
    it(`${one} costs its task what it takes apart`, () => {
      const spent: number[] = [];
      const x = { t: text, words: [text] };
      compileExpression(one, ['x']).evaluate({ x }, (_cost, _looked, parted) => spent.push(parted));
      expect(spent).to.deep.equal([expected]);
    });
  }

  // spec/platform.md R156
  const sought = `${'1'.repeat(100)}b${'1'.repeat(100_000)}`;
  const given = { text: '1'.repeat(200_000), sought, list: Array(1_000).fill('') };
  const bounded: readonly [string, string][] = [
    ['duration(x.text)', 'A duration has at most 64 characters.'],
    ['size(x.list.join(x.text))', 'What stands between texts has at most 64 characters.'],
    ['x.text.contains(x.sought)', 'costs more'],
    ['x.text.indexOf(x.sought) > 0', 'costs more'],
    ['x.list.exists(y, x.text.lastIndexOf(x.sought) > 0)', 'costs more'],
    ['size(x.text.split(x.sought)) > 0', 'costs more'],
  ];
  for (const [one, fault] of bounded) {
    it(`${one} takes no longer than others, however long what it is given`, () => {
      const since = process.cpuUsage();
      expect(() => evaluate(one, { x: given })).to.throw(fault);
      expect(process.cpuUsage(since).user).to.be.below(500_000);
    });
  }

  it('short texts are looked for as they are, and durations read', () => {
    const x = { text: 'a-b-c', list: ['a', 'b'], at: '1h30m', word: '-' };
    expect(evaluate('x.text.split(x.word).join(x.word) == x.text', { x })).to.equal(true);
    expect(evaluate('x.list.exists(y, x.text.contains(y))', { x })).to.equal(true);
    expect(evaluate('duration(x.at).getMinutes()', { x })).to.equal(90);
    expect(evaluate('x.text.contains("-b" + "-")', { x })).to.equal(true);
  });

  it('a large value is looked through once, by however many expressions', () => {
    let looks = 0;
    const handler = {
      ownKeys(of: object) {
        looks += 1;
        return Reflect.ownKeys(of);
      },
    };
    const large = Object.fromEntries(many.map((one, at) => [`n${at}`, one]));
    for (const x of [large, { ...large, constructor: 1 }]) {
      const watched = new Proxy(x, handler);
      const shown = compileExpression('x', ['x']).evaluate({ x: watched });
      expect(shown).to.deep.equal(x);
      const first = looks;
      for (const one of ['x', '[x][0]', '{"of": x}.of', 'x.n1.id']) {
        compileExpression(one, ['x']).evaluate({ x: watched });
      }
      expect(looks).to.equal(first);
      // As deep as a value may be, and as many as there may be, it still is.
      let deep: unknown = watched;
      for (let each = 0; each < 60; each += 1) deep = [deep];
      expect(() => compileExpression('y', ['y']).evaluate({ y: deep })).to.throw(/too large/);
      const often = `[${Array.from({ length: 20 }, () => 'x').join(',')}]`;
      expect(() => compileExpression(often, ['x']).evaluate({ x: watched })).to.throw(/too large/);
    }
  });

  it('a condition on an event may look at what the event says', () => {
    const words = ['b', 'c', 'd', 'e', 'f'].map((word) => `data.text.contains("${word}")`);
    const data = { text: 'a'.repeat(65_000) };
    const compiled = compileExpression(words.join(' || '), ['data']);
    expect(compiled.evaluate({ data }, undefined, conditionCostMax)).to.equal(false);
  });

  it('a loop over words asks a long text for each', () => {
    const words = Array.from({ length: 300 }, (_each, at) => `word ${at}`);
    const x = { text: 'x'.repeat(128_000), words };
    expect(evaluate('x.words.filter(w, x.text.contains(w))', { x })).to.deep.equal([]);
  });

  it('a loop over a list looks each element up in another', () => {
    const ids = many.map(({ id }) => id).slice(0, 500);
    const common = 'x.filter(id, id in y).size() == 500 && !(x == y)';
    expect(evaluate(common, { x: ids, y: [...ids, -1] })).to.equal(true);
  });

  const dear: readonly string[] = [
    'x.all(a, x.all(b, x.all(c, c.id >= 0)))',
    'x.exists(a, x.exists(b, b.id < 0)) || true',
    'x.exists(a, x.exists(b, x == x))',
    'x.map(a, x)',
    `[1, 1]${'.map(v, [v, v])'.repeat(14)}`,
  ];
  for (const text of dear) {
    it(`${text.slice(0, 50)} ends with its budget`, () => {
      const since = process.cpuUsage();
      let spent = 0;
      const compiled = compileExpression(text, ['x']);
      expect(() => compiled.evaluate({ x: many }, (cost) => (spent = cost))).to.throw(/costs more/);
      expect(process.cpuUsage(since).user).to.be.below(2_000_000);
      expect(spent).to.be.within(1, 2 * expressionCostMax);
    });
  }
});

describe('input schemas of definitions', () => {
  const schema = {
    type: 'object',
    required: ['id'],
    additionalProperties: false,
    properties: {
      id: { type: 'string', format: 'uuid' },
      seats: { type: 'integer', minimum: 1, maximum: 10 },
      tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
    },
  };
  const id = '01939c6e-7a00-7000-8000-000000000001';
  const table: readonly [object, string[]][] = [
    [{ id }, []],
    [{ id, seats: 10, tags: ['a', 'b'] }, []],
    [{}, ['/id']],
    [{ id: 'x', seats: 1.5, tags: ['c'], more: 1 }, ['/id', '/seats', '/tags/0', '/more']],
    [{ id, seats: 11, tags: ['a', 'a', 'a'] }, ['/seats', '/tags']],
  ];
  for (const [value, places] of table) {
    it(`${JSON.stringify(value)} has ${places.length} faults`, () => {
      expect(valueFaults(value, schema).map(({ pointer }) => pointer)).to.deep.equal(places);
    });
  }

  // Numbers that no double holds are texts (spec/beyond.md R417).
  const exact: readonly [string, object, boolean][] = [
    ['1234567890123.123456789012', { type: 'number' }, true],
    ['0.123456789012345678', { type: ['null', 'number'] }, true],
    ['12345678901234567890.5', { type: 'integer' }, false],
    ['12345678901234567891', { type: 'integer' }, true],
    ['-12345678901234567891', { type: 'integer', maximum: 0 }, true],
    // A double is 1 of it.
    ['0.9999999999999999999', { type: 'number', minimum: 1 }, false],
    ['1.0000000000000000001', { type: 'number', minimum: 1 }, true],
    ['1.0000000000000000001', { type: 'number', maximum: 1 }, false],
    ['-0.9999999999999999999', { type: 'number', maximum: -1 }, false],
    ['0.3000000000000000001', { type: 'number', maximum: 0.3 }, false],
    ['0.2999999999999999999', { type: 'number', maximum: 0.3 }, true],
    // A double holds these: whoever gives them as texts gives texts.
    ['123456789012345', { type: 'number' }, false],
    ['0.8571428571428571', { type: 'number' }, false],
    ['9007199254740991', { type: 'integer' }, false],
    ['9007199254740993', { type: 'integer' }, true],
    ['1000000000000000000', { type: 'number' }, false],
    ['0.0000000000000000001', { type: 'number' }, false],
    ['1e30', { type: 'number' }, false],
    ['1234567890123.12345678901x', { type: 'number' }, false],
    // As a text it is one, and has no size.
    ['1234567890123.123456789012', { type: 'string', maximum: 1 }, true],
  ];
  for (const [value, one, isTaken] of exact) {
    it(`'${value}' ${isTaken ? 'is' : 'is not'} as ${JSON.stringify(one)} says`, () => {
      expect(valueFaults(value, one)).to.have.length(isTaken ? 0 : 1);
    });
  }

  it('took no number that is a text in executions that began before', () => {
    const given = '1234567890123.123456789012';
    const [fault] = valueFaults(given, { type: 'number' }, { takesExactNumbers: false });
    expect(fault?.message).to.equal('must be number');
  });

  it('looks values up in long lists without going through them', () => {
    const values = [...Array<number>(60_000).fill(0), 1];
    const lists: readonly object[] = [
      { items: { enum: values } },
      { items: { type: [...Array<string>(14_000).fill('null'), 'number'] } },
    ];
    for (const one of lists) {
      const since = process.cpuUsage();
      expect(valueFaults(Array(199_000).fill(1), one)).to.deep.equal([]);
      expect(process.cpuUsage(since).user).to.be.below(500_000);
    }
    const required = Array<string>(32_000).fill('a');
    const items = Array.from({ length: 65_000 }, () => ({ a: 1 }));
    expect(valueFaults(items, { items: { required } })).to.deep.equal([]);
    expect(valueFaults([{}], { items: { required } })).to.have.length(1);
  });

  it('take no regular expressions and no references', () => {
    const faults = shapeFaults(
      { type: 'text', pattern: '(a+)+$', properties: { a: { $ref: '#' } } },
      '',
    );
    expect(faults.map(({ pointer }) => pointer)).to.deep.equal([
      '/type',
      '/pattern',
      '/properties/a/$ref',
    ]);
  });
});
