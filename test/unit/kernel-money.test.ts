import { assert } from 'chai';
import {
  compareDecimals,
  Decimal,
  decimalText,
  parseDecimal,
  roundAmount,
  roundParts,
  roundToMinorUnit,
  sum,
} from '../../src/kernel/numbers/money.js';

const nines38 = '9'.repeat(38);

describe('kernel/money', () => {
  const readable: [text: string, expected: string | null][] = [
    ['0', '0'],
    ['-0', '0'],
    ['-0.0', '0'],
    ['+5', '5'],
    ['007.50', '7.5'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-12.25', '-12.25'],
    ['1e3', '1000'],
    ['1E-7', '0.0000001'],
    ['0e999', '0'],
    [nines38, nines38],
    [`${nines38}9`, null],
    // 1 digit before the point and 37 after it are 38; 38 after it are 39.
    [`0.${'0'.repeat(36)}1`, `0.${'0'.repeat(36)}1`],
    [`0.${'0'.repeat(37)}1`, null],
    ['1e37', `1${'0'.repeat(37)}`],
    ['1e38', null],
    ['1e-38', null],
    ['1e-200', null],
    ['1e999', null],
    ['', null],
    [' 1', null],
    ['1 ', null],
    ['1\n', null],
    ['1,5', null],
    ['0x10', null],
    ['0b1', null],
    ['1_000', null],
    ['Infinity', null],
    ['NaN', null],
    ['.', null],
    ['-', null],
    ['e5', null],
    ['1e', null],
    ['--1', null],
    ['١', null],
  ];
  for (const [text, expected] of readable) {
    it(`reads ${JSON.stringify(text)} as ${expected ?? 'no number'}`, () => {
      const value = parseDecimal(text);
      assert.equal(value && decimalText(value), expected);
    });
  }

  const rounded: [text: string, expected: string][] = [
    ['0.00000000005', '0.0000000001'],
    ['-0.00000000005', '-0.0000000001'],
    ['0.000000000049999', '0'],
    ['-0.000000000049999', '0'],
    ['2.99999999995', '3'],
  ];
  for (const [text, expected] of rounded) {
    it(`rounds ${text} to ${expected} at 10 places`, () => {
      const value = roundAmount(new Decimal(text));
      assert.equal(value.toFixed(), expected);
    });
  }

  const minor: [text: string, digits: number, expected: string][] = [
    ['2.345', 2, '2.35'],
    ['-2.345', 2, '-2.35'],
    ['2.344999', 2, '2.34'],
    ['1234.5', 0, '1235'],
    ['1.0005', 3, '1.001'],
  ];
  for (const [text, digits, expected] of minor) {
    it(`rounds ${text} to ${expected} at ${digits} digits`, () => {
      assert.equal(decimalText(roundToMinorUnit(new Decimal(text), digits)), expected);
    });
  }

  const parted: [parts: string[], places: number, expected: string[]][] = [
    // Thirds of 1.00: the first gets the cent that is left over.
    [['0.3333', '0.3333', '0.3334'], 2, ['0.33', '0.33', '0.34']],
    [['0.335', '0.335', '0.33'], 2, ['0.34', '0.33', '0.33']],
    [['1.25', '2.5'], 2, ['1.25', '2.5']],
    [['2.345'], 2, ['2.35']],
    // -0.75 - 0.75 = -1.5, which rounds away from zero to -2.
    [['-0.75', '-0.75'], 0, ['-1', '-1']],
    // 0.5 - 0.25 = 0.25, which rounds to 0.
    [['0.5', '-0.25'], 0, ['0', '0']],
    [[], 2, []],
  ];
  for (const [parts, places, expected] of parted) {
    it(`rounds the parts ${parts.join(' ')} to ${expected.join(' ')}`, () => {
      const values = parts.map((part) => new Decimal(part));
      assert.deepEqual(roundParts(values, places).map(decimalText), expected);
    });
  }

  it('adds exactly, where a float would not', () => {
    assert.equal(decimalText(sum(['0.1', '0.2', '0.3'].map((text) => new Decimal(text)))), '0.6');
  });

  it('rounds half away from zero also at the 60th digit', () => {
    const digits = `1${'0'.repeat(58)}2`;
    assert.equal(new Decimal(`-${digits}`).minus('0.5').toFixed(), `-1${'0'.repeat(58)}3`);
  });

  it('gives pg plain text', () => {
    assert.equal(new Decimal('1e-20').toPostgres(), '0.00000000000000000001');
    assert.equal(new Decimal('-0').toPostgres(), '0');
  });

  it('writes plain text into JSON', () => {
    assert.equal(
      JSON.stringify([new Decimal('1e-20'), new Decimal('1e30')]),
      `["0.${'0'.repeat(19)}1","1${'0'.repeat(30)}"]`,
    );
  });

  it('compares and writes numbers as the library does', () => {
    const texts = ['0', '-0', '7', '-7', '9999999', '10000000', '-10000000', '0.1', '0.10000001'];
    texts.push(
      '12.5',
      '-12.5',
      '12.0000001',
      '123456789.5',
      '1e-30',
      '-1e-30',
      nines38,
      'Infinity',
    );
    const values = [...texts, '-Infinity', 'NaN'].map((text) => new Decimal(text));
    for (const a of values) {
      for (const b of values) {
        assert.deepEqual(compareDecimals(a, b), a.comparedTo(b), `${a.toFixed()} ${b.toFixed()}`);
      }
      assert.equal(decimalText(a), a.isZero() ? '0' : a.toFixed());
    }
  });
});
