import { assert } from 'chai';
import {
  JsonText,
  parseJson,
  refuseUnstorableText,
  stringifyJson,
} from '../../src/api/server/unstorable-text.js';
import { Decimal, decimalText } from '../../src/kernel/numbers/money.js';
import { Problem } from '../../src/kernel/problem.js';
import { jsonSafe, jsonWithDoubles } from '../../src/kernel/text/json.js';

function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('There was no problem.');
}

const nested = (depth: number, inner: string) => `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;

describe('JSON', () => {
  describe('numbers', () => {
    // Up to 15 digits survive a float; more, or an exponent, come as exact decimals.
    const numbers: [token: string, kind: 'number' | 'decimal', text: string][] = [
      ['0', 'number', '0'],
      ['-1.5', 'number', '-1.5'],
      ['123456789012345', 'number', '123456789012345'],
      ['0.1234567890123', 'number', '0.1234567890123'],
      ['1234567890123456', 'decimal', '1234567890123456'],
      ['0.1234567890123456', 'decimal', '0.1234567890123456'],
      ['9007199254740993', 'decimal', '9007199254740993'],
      ['1e2', 'decimal', '100'],
      ['1E-2', 'decimal', '0.01'],
      ['-2.5e+1', 'decimal', '-25'],
      ['0e0', 'decimal', '0'],
      [
        '12345678901234567890.123456789012345678',
        'decimal',
        '12345678901234567890.123456789012345678',
      ],
    ];
    for (const [token, kind, text] of numbers) {
      it(`${token} comes as a ${kind} and is written ${text}`, () => {
        const { n } = parseJson(`{"n":${token}}`) as { n: unknown };
        assert.equal(n instanceof Decimal ? 'decimal' : typeof n, kind);
        assert.equal(n instanceof Decimal ? decimalText(n) : String(n), text);
        assert.equal(stringifyJson({ n }), `{"n":${text}}`);
      });
    }

    const unreadable = ['1'.repeat(40), `0.${'1'.repeat(40)}`, '1e400', '1e-400', '-1e999999999'];
    for (const token of unreadable) {
      it(`${token.slice(0, 12)} … comes as neither, and is written as it was`, () => {
        const { n } = parseJson(`{"n":${token}}`) as { n: unknown };
        assert.isFalse(n instanceof Decimal);
        assert.equal(typeof n, 'object');
        assert.equal(stringifyJson({ n }), `{"n":${token}}`);
      });
    }

    it('keeps numbers beside texts that look like numbers', () => {
      const text = '{"id":"1234567890123456e7","n":1234567890123456,"m":[1.0e1,"1e1"]}';
      assert.equal(
        stringifyJson(parseJson(text)),
        '{"id":"1234567890123456e7","n":1234567890123456,"m":[10,"1e1"]}',
      );
    });
  });

  describe('depth', () => {
    it('reads 64 levels and refuses 65, of arrays, objects and both', () => {
      const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const mixed = (depth: number) => `${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`;
      assert.doesNotThrow(() => parseJson(nested(64, '1')));
      assert.doesNotThrow(() => parseJson(objects(64)));
      assert.doesNotThrow(() => parseJson(mixed(32)));
      for (const text of [nested(65, '1'), objects(65), mixed(33), '['.repeat(500_000)]) {
        const problem = problemOf(() => parseJson(text));
        assert.equal(problem.kind, 'validation');
        assert.include(problem.message, '64 levels');
      }
    });

    it('counts no bracket inside a text, and forgets those that are closed', () => {
      const brackets = '['.repeat(100);
      assert.equal(parseJson(`"${brackets}"`), brackets);
      assert.equal(parseJson(`"\\"${brackets}"`), `"${brackets}`);
      assert.lengthOf(parseJson(`[${'[],'.repeat(99)}[]]`) as unknown[], 100);
      assert.equal(problemOf(() => parseJson(`["\\\\",${nested(64, '1')}]`)).kind, 'validation');
    });
  });

  describe('broken texts', () => {
    const broken = [
      '{',
      '[1,',
      '{"a"}',
      '{"a":}',
      '[1 2]',
      "{'a':1}",
      '{a:1}',
      'nul',
      'undefined',
      '[01]',
      '[1.]',
      '[.5]',
      '[+1]',
      '[NaN]',
      '[Infinity]',
      '[0x10]',
      '"\n"',
      '"\\x"',
      '[1]]',
      '{} {}',
      '[1e0',
      '[1e0,]',
      '[1e]',
      '[1e0] x',
      '"',
      '\ufeff[1]',
      '',
    ];
    for (const text of broken) {
      it(`${JSON.stringify(text)} is refused`, () => {
        const problem = problemOf(() => parseJson(text));
        assert.equal(problem.status, 400);
        assert.match(problem.message, /^The body is not valid JSON: ./);
        assert.isBelow(problem.message.length, 300);
      });
    }
  });

  it('takes the last of several values of one name, whatever its numbers', () => {
    assert.deepEqual(parseJson('{"a":1,"a":2}'), { a: 2 });
    assert.equal(stringifyJson(parseJson('{"a":1e0,"b":1,"a":2}')), '{"a":2,"b":1}');
  });

  it('keeps a property called __proto__ from becoming the prototype', () => {
    for (const text of ['{"__proto__":{"name":"x"}}', '{"__proto__":{"name":"x"},"n":1e0}']) {
      const value = parseJson(text) as { name?: string };
      assert.isUndefined(value.name);
      assert.equal(Object.getPrototypeOf(value), Object.prototype);
      assert.include(Object.keys(value), '__proto__');
    }
  });

  describe('texts that cannot be stored', () => {
    const texts: [json: string, field: string | null][] = [
      ['{"name":"a\\u0000b"}', 'name'],
      ['{"list":[{"x":"ok"},{"x":"\\u0000"}]}', 'list[1].x'],
      ['{"a":{"b":"\\ud800"}}', 'a.b'],
      ['{"a":"\\udc00\\ud800"}', 'a'],
      ['{"a":"\\uD83D\\uDE00"}', null],
      ['{"a":"\\\\u0000"}', null],
      ['{"a\\u0000b":1}', 'a?b'],
      ['{"x":{"\\ud800":1}}', 'x.\ufffd'],
      ['"\\u0000"', ''],
      ['{"a":"plain"}', null],
    ];
    for (const [json, field] of texts) {
      it(`${json} ${field === null ? 'is fine' : `names '${field}'`}`, () => {
        const check = () => refuseUnstorableText(json, parseJson(json));
        if (field === null) {
          assert.doesNotThrow(check);
          return;
        }
        const problem = problemOf(check);
        assert.equal(problem.kind, 'validation');
        assert.deepEqual(problem.details, { field });
        assert.include(problem.message, `'${field}'`);
      });
    }
  });

  describe('for where it is read with floats', () => {
    // What another server answers, a workflow has as it is.
    const rows: [string, unknown][] = [
      ['123456789012345', 123_456_789_012_345],
      ['1e3', 1_000],
      ['0.1234567890123456789', '0.1234567890123456789'],
      ['1e400', '1e400'],
      [`1${'0'.repeat(39)}`, `1${'0'.repeat(39)}`],
    ];
    for (const [text, expected] of rows) {
      it(`${text} is ${JSON.stringify(expected)}`, () => {
        assert.deepEqual(jsonSafe(parseJson(`{"n": [${text}]}`)), { n: [expected] });
      });
    }
  });

  describe('for workflows of tenants', () => {
    // spec/beyond.md R417: a text is what would be another number as a double.
    const rows: [string, unknown][] = [
      ['123456789012345', 123_456_789_012_345],
      ['1e3', 1_000],
      ['0e0', 0],
      ['-1.50', -1.5],
      ['0.8571428571428571', 0.8571428571428571],
      ['3.141592653589793', 3.141592653589793],
      ['3.141592653589793000', 3.141592653589793],
      ['9007199254740991', 9_007_199_254_740_991],
      ['-9007199254740993', '-9007199254740993'],
      ['12345678901234567890', '12345678901234567890'],
      ['0.1234567890123456789', '0.1234567890123456789'],
      ['0.99999999999999999999', '0.99999999999999999999'],
      // 40 digits are more than a Decimal of ours may have, and a double has this number.
      [`1${'0'.repeat(39)}`, 1e39],
      ['1e39', 1e39],
      ['1'.repeat(40), '1'.repeat(40)],
      ['1e400', '1e400'],
      ['-1E-400', '-1E-400'],
    ];
    for (const [text, expected] of rows) {
      it(`${text} is ${JSON.stringify(expected)}`, () => {
        assert.deepEqual(jsonWithDoubles(parseJson(`{"n": [${text}]}`)), { n: [expected] });
      });
    }
  });

  describe('writing', () => {
    const values: [value: unknown, text: string][] = [
      [undefined, 'null'],
      [null, 'null'],
      [{ a: undefined, b: null }, '{"b":null}'],
      [new Date('2024-01-01T00:00:00Z'), '"2024-01-01T00:00:00.000Z"'],
      [[new Decimal('-0'), new Decimal('0.10')], '[0,0.1]'],
      [new Decimal('1e30'), '1000000000000000000000000000000'],
      [
        [new JsonText('{"2":1.0,"1":[1e400,"a\\"b$1"]}'), new Decimal('0.10'), new JsonText('{}')],
        '[{"2":1.0,"1":[1e400,"a\\"b$1"]},0.1,{}]',
      ],
      // What is written beside a Decimal is written as JSON.stringify has it.
      [
        { n: new Decimal('1.50'), 'k"': 'a\\\n\ud800', l: [undefined, NaN, -0, true], f: () => 1 },
        '{"n":1.5,"k\\"":"a\\\\\\n\\ud800","l":[null,null,0,true]}',
      ],
      [
        { toJSON: () => ({ n: new Decimal('1.50'), at: new Date(0) }) },
        '{"n":1.5,"at":"1970-01-01T00:00:00.000Z"}',
      ],
      [{ text: 'a"1"b\u2028' }, '{"text":"a\\"1\\"b\u2028"}'],
    ];
    for (const [value, text] of values) {
      it(`writes ${text}`, () => {
        assert.equal(stringifyJson(value), text);
      });
    }
  });
});
