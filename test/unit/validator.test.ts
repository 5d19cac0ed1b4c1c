import { assert, expect } from 'chai';
import { Type, type TSchema } from 'typebox';
import { parseJson } from '../../src/api/server/unstorable-text.js';
import { DecimalValue } from '../../src/kernel/numbers/decimal-value.js';
import { Decimal } from '../../src/kernel/numbers/money.js';
import { Picklist, PicklistReference } from '../../src/kernel/picklist-field.js';
import { Problem } from '../../src/kernel/problem.js';
import { referenceData } from '../../src/kernel/reference-data.js';
import {
  CountryName,
  CurrencyCode,
  CurrencyReference,
  DateText,
  FreeObject,
  FreeText,
  Instant,
  JsonObjectText,
  nullable,
  oneOfBy,
  optional,
  Text,
  updateBody,
  Uuid,
  writeBody,
} from '../../src/schemas/fields/field.js';
import { Flag, pageQuery } from '../../src/schemas/http/paging.js';
import { validate } from '../../src/schemas/fields/validator.js';

const usdId = '0190a000-0000-7000-8000-00000000000a';
const usd = { id: usdId, code: 'USD', name: 'US Dollar', symbol: '$', minorDigits: 2 };
const france = { id: '2', name: 'France', code: 'FR', alpha2Code: 'FR', alpha3Code: 'FRA' };
const values = [
  { id: '0190a000-0000-7000-8000-00000000000b', picklist: 'netTerm', name: 'Net 7' },
  { id: '0190a000-0000-7000-8000-00000000000c', picklist: 'netTerm', name: 'Net 15' },
  { id: '0190a000-0000-7000-8000-00000000000d', picklist: 'usageType', name: 'Charge' },
];
const netTerm = PicklistReference('netTerm', { description: '' });

function problemOf(schema: TSchema, value: unknown): Problem {
  try {
    validate(schema, value);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(value)} is valid.`);
}

const messages = (schema: TSchema, value: unknown): string[] => {
  const { errors } = problemOf(schema, value).details as { errors: { message: string }[] };
  return errors.map(({ message }) => message);
};

describe('schemas/validator', () => {
  before(() => {
    referenceData.load({ picklistValues: values, currencies: [usd], countries: [france] });
  });

  describe('keywords', () => {
    const currencyMessage = "'f' must be a currency code or name; see /api/v1/external/currencies";
    const countryMessage =
      "'f' 'Atlantis' must be a country name, alpha-2 or alpha-3 code; see /api/v1/external/countries";
    const decimalMessage = "'f' must have at most 20 digits before and 18 after the point";
    const faults: [name: string, schema: TSchema, json: string, message: string][] = [
      ['type', Type.String(), '5', "'f' must be a text"],
      ['null', Type.String(), 'null', "'f' must be a text"],
      ['integer', Type.Integer(), '1.5', "'f' must be a whole number"],
      ['a decimal for an integer', Type.Integer(), '1e2', "'f' must be a whole number"],
      ['minimum', Type.Integer({ minimum: 1 }), '0', "'f' must be >= 1"],
      ['maximum', Type.Integer({ maximum: 31 }), '32', "'f' must be <= 31"],
      ['minItems', Type.Array(Type.Any(), { minItems: 1 }), '[]', "'f' must have at least 1 item"],
      [
        'maxItems',
        Type.Array(Type.Any(), { maxItems: 1 }),
        '[1,2]',
        "'f' must have at most 1 item",
      ],
      ['blank', Text(''), '" \\t"', "'f' must not be blank"],
      ['empty', Text(''), '""', "'f' must not be empty"],
      ['maxLength', Text('', 3), '"abcd"', "'f' must have at most 3 characters"],
      [
        'pattern',
        Type.String({ pattern: '^a$' }),
        '"b"',
        "'f' is not of the form that it must have",
      ],
      ['const', Type.Literal('row'), '"x"', "'f' 'x' must be row"],
      [
        'pattern in words',
        Type.String({ pattern: '^a$', expected: 'an a' }),
        '"b"',
        "'f' must be an a",
      ],
      [
        'uuid of another form',
        Uuid(''),
        `"urn:uuid:${usdId}"`,
        `'f' 'urn:uuid:${usdId}' must be a UUID`,
      ],
      [
        'uuid',
        Uuid(''),
        '"x"',
        "'f' 'x' must be a UUID, such as 0190a1b2-0c3d-7e4f-8a5b-6c7d8e9f0a1b",
      ],
      [
        'date',
        DateText(''),
        '"2026-02-30"',
        "'f' '2026-02-30' must be a calendar date, such as 2026-01-31",
      ],
      [
        'date-time',
        Instant(''),
        '"2026-01-01"',
        "'f' '2026-01-01' must be an ISO 8601 instant with its zone, such as 2026-01-31T12:00:00Z",
      ],
      ['currency', CurrencyCode(''), '"XXQ"', "'f' 'XXQ' names no currency; see /api"],
      ['currency of another type', CurrencyCode(''), '[1]', currencyMessage],
      ['currency null', CurrencyCode(''), 'null', currencyMessage],
      ['country', CountryName(''), '"Atlantis"', countryMessage],
      [
        'picklist',
        Picklist('netTerm', { description: '' }),
        '"x"',
        "'f' 'x' must be one of: Net 7, ",
      ],
      ['decimal', DecimalValue({ description: '' }), '"1"', "'f' must be a number"],
      ['decimal of 21 digits', DecimalValue({ description: '' }), '1e20', decimalMessage],
      ['decimal of 19 places', DecimalValue({ description: '' }), '1e-19', decimalMessage],
      ['40 digits', DecimalValue({ description: '' }), '1'.repeat(40), decimalMessage],
      [
        'decimal minimum',
        DecimalValue({ description: '', minimum: '0' }),
        '-0.1',
        "'f' must be >= 0",
      ],
      ['free object', FreeObject(''), '[]', "'f' must be an object"],
      ['free object null', FreeObject(''), 'null', "'f' must be an object"],
      ['free object decimal', FreeObject(''), '1e2', "'f' must be an object"],
      [
        'free object with 40 digits',
        FreeObject(''),
        `{"a":[{"b":${'1'.repeat(40)}}]}`,
        "'f' must not hold a number of more than 38 digits",
      ],
      ['object kept as text', JsonObjectText(''), '[]', "'f' must be an object"],
      ['object kept as text, a number', JsonObjectText(''), '1e400', "'f' must be an object"],
      [
        'zero that must be more',
        DecimalValue({ description: '', exclusiveMinimum: '0' }),
        '0',
        "'f' must be > 0",
      ],
      [
        'currency code by id',
        CurrencyCode(''),
        `"${usdId}"`,
        `'f' '${usdId}' names no currency; see /api/v1/external/currencies for its code or name`,
      ],
      [
        'currency by an unknown id',
        CurrencyReference(''),
        '"0190a000-0000-7000-8000-00000000000b"',
        "'f' '0190a000-0000-7000-8000-00000000000b' names no currency; see /api/v1/external/currencies for",
      ],
      [
        'picklist by the id of another',
        netTerm,
        '"0190a000-0000-7000-8000-00000000000d"',
        "'f' '0190a000-0000-7000-8000-00000000000d' must be one of: Net 7, Net 15; or the id of one",
      ],
      ['flag', Flag(''), '"yes"', "'f' 'yes' must be true or false"],
      ['page', pageQuery.page, '"-1"', "'f' '-1' must be a whole number >= 0"],
      ['size', pageQuery.size, '"0"', "'f' '0' must be a whole number >= 1"],
    ];
    for (const [name, schema, json, message] of faults) {
      // spec/resources.md R21, R87
      it(`says what is wrong: ${name}`, () => {
        const body = parseJson(`{"f":${json}}`);
        const problem = problemOf(writeBody({ f: schema }), body);
        assert.equal(problem.status, 400);
        assert.equal(problem.details['field'], 'f');
        assert.equal(problem.message.slice(0, message.length), message);
      });
    }

    const readings: [name: string, schema: TSchema, json: string, value: unknown][] = [
      ['currency name', CurrencyCode(''), '" us dollar "', 'USD'],
      ['currency code', CurrencyCode(''), '"usd"', 'USD'],
      ['currency id', CurrencyReference(''), `"${usdId.toUpperCase()}"`, 'USD'],
      ['currency name beside ids', CurrencyReference(''), '"us dollar"', 'USD'],
      ['picklist id', netTerm, '"0190A000-0000-7000-8000-00000000000C"', 'Net 15'],
      ['picklist name beside ids', netTerm, '"net 7"', 'Net 7'],
      ['alpha-3', CountryName(''), '"fra"', 'France'],
      ['picklist', Picklist('netTerm', { description: '' }), '"NET 15"', 'Net 15'],
      ['number', DecimalValue({ description: '' }), '1.5', new Decimal('1.5')],
      ['exponent', DecimalValue({ description: '' }), '1e-18', new Decimal('1e-18')],
      ['nullable currency', nullable(CurrencyCode('')), 'null', null],
      ['nullable decimal', nullable(DecimalValue({ description: '' })), 'null', null],
      ['nullable object', nullable(FreeObject('')), 'null', null],
      ['nullable text', nullable(Text('')), 'null', null],
      ['free object', FreeObject(''), '{"a":[null,{}]}', { a: [null, {}] }],
      ['empty free text', FreeText(''), '""', ''],
      ['flag', Flag(''), '"true"', true],
      ['size above the cap', pageQuery.size, '"500"', 20],
      ['page', pageQuery.page, '"7"', 7],
    ];
    for (const [name, schema, json, value] of readings) {
      it(`puts the canonical value in place: ${name}`, () => {
        const body = parseJson(`{"f":${json}}`);
        assert.deepEqual(validate(writeBody({ f: schema }), body), { f: value });
      });
    }
  });

  describe('bodies', () => {
    const Row = oneOfBy('method', [
      writeBody({ method: Type.Literal('FLAT'), rate: Type.Number() }),
      writeBody({ method: Type.Literal('NONE') }),
    ]);
    const Body = writeBody(
      {
        name: Text(''),
        note: optional(FreeText('')),
        cards: optional(Type.Array(writeBody({ rows: Type.Array(Row, { minItems: 1 }) }))),
      },
      { ignore: ['status'] },
    );

    it('names nested fields by their path', () => {
      assert.deepEqual(
        messages(Body, {
          cards: [
            { rows: [{ method: 'NONE' }] },
            {
              rows: [
                { method: 'FLAT' },
                { method: 'NONE', rate: 1 },
                { method: 'OTHER' },
                {},
                { method: 'FLAT', rate: 'x', extra: 1 },
              ],
            },
          ],
        }),
        [
          "'name' is required",
          "'cards[1].rows[0].rate' is required",
          "'cards[1].rows[1].rate' is not a known property",
          "'cards[1].rows[2].method' 'OTHER' must be one of: FLAT, NONE",
          "'cards[1].rows[3].method' is required",
          "'cards[1].rows[3].method' must be one of: FLAT, NONE",
          "'cards[1].rows[4].extra' is not a known property",
          "'cards[1].rows[4].rate' must be a number",
        ],
      );
    });

    it('tells the first field and its value, and long values not at all', () => {
      const problem = problemOf(Body, { name: 5 });
      assert.deepEqual(problem.details, {
        field: 'name',
        value: 5,
        errors: [{ field: 'name', message: "'name' must be a text" }],
      });
      assert.notProperty(problemOf(Body, { name: 'x'.repeat(300) }).details, 'value');
      assert.notProperty(problemOf(Body, { name: { a: 1 } }).details, 'value');
    });

    // Beyond the three documents, an unknown property is told with those that are known.
    it('tells which properties are known where one is not', () => {
      const { errors } = problemOf(Body, { name: 'x', nam: 1 }).details as { errors: object[] };
      assert.deepEqual(errors, [
        {
          field: 'nam',
          message: "'nam' is not a known property",
          known: Object.keys(Body.properties),
        },
      ]);
    });

    it('tells ten faults of many', () => {
      const cards = Array.from({ length: 5_000 }, () => ({ rows: [] }));
      const problem = problemOf(Body, { name: 'x', cards });
      assert.lengthOf(problem.details['errors'] as unknown[], 10);
      assert.lengthOf(problem.message.split('; '), 10);
      assert.include(problem.message, "'cards[9].rows'");
      assert.notInclude(problem.message, "'cards[10].rows'");
    });

    const spent = (work: () => unknown): number => {
      const start = process.cpuUsage();
      work();
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1_000;
    };

    it('looks no further when there are many, so that a body full of them costs no more than a good one', () => {
      const bad = { method: 'FLAT', rate: 'x', a: 1, b: 2, c: 3, d: 4 };
      const cards = () => [{ rows: Array.from({ length: 50_000 }, () => ({ ...bad })) }];
      messages(Body, { name: 'x', cards: [{ rows: [{ ...bad }] }] });
      const body = { name: 'x', cards: cards() };
      let found: string[] = [];
      expect(spent(() => (found = messages(Body, body)))).to.be.below(50);
      assert.lengthOf(found, 10);
      assert.equal(found[0], "'cards[0].rows[0].a' is not a known property");
    });

    it('looks at ten unknown properties, and at no items where there are too many', () => {
      const body: Record<string, unknown> = { name: 'x' };
      for (let at = 0; at < 100_000; at += 1) body[`p${at}`] = at;
      let found: string[] = [];
      expect(spent(() => (found = messages(Body, body)))).to.be.below(400);
      assert.lengthOf(found, 10);
      assert.equal(found[9], "'p9' is not a known property");
      const List = writeBody({ list: Type.Array(Text(''), { maxItems: 3 }) });
      const long = { list: Array(100_000).fill(1) };
      assert.deepEqual(messages(List, long), ["'list' must have at most 3 items"]);
    });

    it('ignores response-only fields at every depth, and still tells other faults', () => {
      const sent = {
        id: 'x',
        status: 'y',
        approvalStatus: 'z',
        __type__: 'T',
        name: 'A',
        cards: [{ versionNo: 1, isCurrent: true, fromDate: 'x', toDate: null, rows: [{}] }],
      };
      const row = { id: 'x', seqNo: 1, method: 'FLAT', rate: 1 };
      assert.deepEqual(validate(Body, { ...sent, cards: [{ ...sent.cards[0], rows: [row] }] }), {
        name: 'A',
        cards: [{ rows: [{ method: 'FLAT', rate: 1 }] }],
      });
      assert.deepEqual(
        messages(Body, {
          ...sent,
          cards: [{ versionNo: 1, status: 'x', rows: [{ ...row, rate: '1' }] }],
        }),
        ["'cards[0].status' is not a known property", "'cards[0].rows[0].rate' must be a number"],
      );
    });

    it('names properties that are unknown, also odd ones', () => {
      for (const [body, message] of [
        ['{"name":"x","__proto__":1}', "'__proto__' is not a known property"],
        ['{"name":"x","a/b~c":1}', "'a/b~c' is not a known property"],
        ['{"name":"x","":1}', "'' is not a known property"],
        ['{"name":"x","Name":1}', "'Name' is not a known property"],
      ] as const) {
        assert.deepEqual(messages(Body, parseJson(body)), [message]);
      }
      const long = messages(Body, { name: 'x', ['y'.repeat(5_000)]: 1 });
      assert.equal(long[0], `'${'y'.repeat(200)}' is not a known property`);
    });

    it('refuses what is no object', () => {
      for (const body of [null, [], 'x', 5, true]) {
        assert.deepEqual(messages(Body, body), [
          'The body must be an object, such as {"name": "value"}',
        ]);
      }
    });

    it('says once that a free object is none', () => {
      const Event = writeBody({ message: FreeObject('What was sent.') });
      for (const message of [null, [], 'x', 5, true]) {
        assert.deepEqual(messages(Event, { message }), [
          '\'message\' must be an object, such as {"name": "value"}',
        ]);
      }
    });

    it('lets an update leave out everything, and clear only what is optional', () => {
      const Update = updateBody(Body);
      assert.deepEqual(validate(Update, {}), {});
      assert.deepEqual(validate(Update, { note: null, cards: null, id: 'x' }), {
        note: null,
        cards: null,
      });
      assert.deepEqual(messages(Update, { name: null }), ["'name' must be a text"]);
      // Inside a nested item what is required stays so: the item is a new one.
      assert.deepEqual(messages(Update, { cards: [{}] }), ["'cards[0].rows' is required"]);
    });
  });
});
