import { assert } from 'chai';
import { Decimal as ForeignDecimal } from 'decimal.js';
import { decimalText } from '../../../src/kernel/numbers/money.js';
import { readUsageEvent } from '../../../src/rating/index.js';

const valid = {
  externalTransactionId: 'tx-1',
  serviceId: 'ABCDEF01-2345-6789-abcd-ef0123456789',
  eventTimestamp: '2024-03-15T12:00:00Z',
  billingAccountRef: 'acme',
  dimensions: { api_calls: '100' },
};

function faultOf(message: unknown): string {
  const read = readUsageEvent(message);
  return read.ok ? 'read' : `${read.code}: ${read.message}`;
}

describe('rating/usage-event', () => {
  // spec/rating.md R2
  it('reads every member and ignores those it does not know', () => {
    const read = readUsageEvent({
      ...valid,
      quantity: 2.5,
      serviceInstanceId: 'i-1',
      priceUnitLabel: 'call',
      morgId: 'org',
    });
    assert.isTrue(read.ok);
    if (!read.ok) return;
    const { quantity, dimensions, ...event } = read.event;
    assert.equal(quantity && decimalText(quantity), '2.5');
    assert.deepEqual([...dimensions], [['api_calls', '100']]);
    assert.deepEqual(event, {
      externalTransactionId: 'tx-1',
      serviceId: 'abcdef01-2345-6789-abcd-ef0123456789',
      timestamp: '2024-03-15T12:00:00.000Z',
      date: '2024-03-15',
      accountRef: 'acme',
      serviceInstanceId: 'i-1',
      priceUnitLabel: 'call',
    });
  });

  // spec/rating.md R2
  it('takes null for an optional member as absent', () => {
    const absent = { quantity: null, serviceInstanceId: null, priceUnitLabel: null };
    assert.deepEqual(readUsageEvent({ ...valid, ...absent }), readUsageEvent(valid));
  });

  const timestamps: [text: string, expected: string | null][] = [
    ['2024-03-15T12:00:00Z', '2024-03-15T12:00:00.000Z'],
    ['2024-03-15T12:00:00', '2024-03-15T12:00:00.000Z'],
    ['2024-03-15T12:00', '2024-03-15T12:00:00.000Z'],
    ['2024-03-15t12:00:00.5z', '2024-03-15T12:00:00.500Z'],
    ['2024-03-15T12:00:00,123456789Z', '2024-03-15T12:00:00.123456Z'],
    ['2024-03-01T00:30:00+05:30', '2024-02-29T19:00:00.000Z'],
    ['2024-12-31T23:30:00-01', '2025-01-01T00:30:00.000Z'],
    ['2024-03-15T12:00:00+0530', '2024-03-15T06:30:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2023-02-29T00:00:00Z', null],
    ['2024-04-31T00:00:00Z', null],
    ['2024-13-01T00:00:00Z', null],
    ['2024-00-01T00:00:00Z', null],
    ['2024-01-00T00:00:00Z', null],
    ['2024-01-01T24:00:00Z', null],
    ['2024-01-01T23:60:00Z', null],
    ['2024-01-01T23:59:61Z', null],
    ['2024-01-01T00:00:00+24:00', null],
    ['2024-01-01T00:00:00+00:60', null],
    ['2024-01-01', null],
    ['2024-01-01 00:00:00Z', null],
    ['20240101T000000Z', null],
    ['0024-01-01T00:00:00Z', null],
    ['9999-01-01T00:00:00Z', null],
    ['1710504000', null],
    ['2024-01-01T00:00:00Z ', null],
    ['2024-01-01T00:00:00.Z', null],
  ];
  for (const [text, expected] of timestamps) {
    // spec/rating.md R3
    it(`reads the time ${text} as ${expected ?? 'INVALID_EVENT'}`, () => {
      const read = readUsageEvent({ ...valid, eventTimestamp: text });
      assert.equal(read.ok ? read.event.timestamp : null, expected);
      if (read.ok) assert.equal(read.event.date, read.event.timestamp.slice(0, 10));
      else assert.match(read.message, /^eventTimestamp must be/);
    });
  }

  const faults: [name: string, message: unknown, expected: RegExp][] = [
    ['null', null, /^INVALID_EVENT: message must be a JSON object$/],
    ['an array', [], /message must be a JSON object/],
    ['a text', 'x', /message must be a JSON object/],
    ['no id', { ...valid, externalTransactionId: undefined }, /externalTransactionId is required/],
    [
      'an id of null',
      { ...valid, externalTransactionId: null },
      /externalTransactionId is required/,
    ],
    [
      'an empty id',
      { ...valid, externalTransactionId: '' },
      /externalTransactionId must not be empty/,
    ],
    [
      'a number as id',
      { ...valid, externalTransactionId: 7 },
      /externalTransactionId must be a string/,
    ],
    ['an id of 256', { ...valid, externalTransactionId: 'x'.repeat(256) }, /at most 255/],
    ['a NUL in the id', { ...valid, externalTransactionId: 'a\0b' }, /externalTransactionId .*NUL/],
    ['half a pair', { ...valid, billingAccountRef: 'a\ud800' }, /billingAccountRef .*Unicode/],
    ['no service', { ...valid, serviceId: undefined }, /serviceId is required/],
    ['no UUID', { ...valid, serviceId: 'service-1' }, /serviceId must be a UUID/],
    ['no time', { ...valid, eventTimestamp: undefined }, /eventTimestamp is required/],
    ['a number as time', { ...valid, eventTimestamp: 1 }, /eventTimestamp must be a string/],
    ['no account', { ...valid, billingAccountRef: undefined }, /billingAccountRef is required/],
    ['no dimensions', { ...valid, dimensions: undefined }, /dimensions is required/],
    ['an array of dimensions', { ...valid, dimensions: ['a'] }, /dimensions must be an object/],
    ['empty dimensions', { ...valid, dimensions: {} }, /dimensions must name at least one/],
    [
      'a number as dimension',
      { ...valid, dimensions: { api_calls: 5 } },
      /dimensions.api_calls must be a string: send the number as "5"/,
    ],
    ['a null dimension', { ...valid, dimensions: { a: null } }, /dimensions.a must be a string/],
    ['a NUL in a name', { ...valid, dimensions: { 'a\0': '1' } }, /name of a dimension .*NUL/],
    ['half a pair in a value', { ...valid, dimensions: { a: '\udc00' } }, /dimensions.a .*Unicode/],
    ['a text as quantity', { ...valid, quantity: '5' }, /quantity must be a number/],
    ['NaN', { ...valid, quantity: NaN }, /quantity must be a number of at most 38 digits/],
    ['a quantity of 1e38', { ...valid, quantity: 1e38 }, /at most 38 digits/],
    ['a negative quantity', { ...valid, quantity: -0.5 }, /quantity must not be negative/],
    [
      'a number as instance',
      { ...valid, serviceInstanceId: 5 },
      /serviceInstanceId must be a string/,
    ],
    ['a list as label', { ...valid, priceUnitLabel: [] }, /priceUnitLabel must be a string/],
  ];
  for (const [name, message, expected] of faults) {
    // spec/rating.md R1, R4, R5, R21
    it(`refuses ${name}`, () => {
      assert.match(faultOf(message), expected);
    });
  }

  const quantities: [name: string, given: unknown, expected: string][] = [
    ['a float', 0.1, '0.1'],
    ['minus zero', -0, '0'],
    [
      'a Decimal of another constructor',
      new ForeignDecimal('12345678901234567890.5'),
      '12345678901234567890.5',
    ],
  ];
  for (const [name, given, expected] of quantities) {
    // spec/rating.md R5
    it(`reads ${name} as quantity`, () => {
      const read = readUsageEvent({ ...valid, quantity: given });
      assert.equal(read.ok && read.event.quantity?.toFixed(), expected);
    });
  }

  it('takes ids of exactly 255 characters, emoji, and names such as __proto__', () => {
    const dimensions: unknown = JSON.parse('{"__proto__": "x", "größe 😀": "1"}');
    const read = readUsageEvent({ ...valid, externalTransactionId: 'x'.repeat(255), dimensions });
    assert.deepEqual(read.ok && [...read.event.dimensions.keys()], ['__proto__', 'größe 😀']);
  });
});
