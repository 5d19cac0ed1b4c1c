import { expect } from 'chai';
import {
  readHalfOpenRange,
  readTimeRange,
  requireHalfOpenRange,
} from '../../src/queries/lists/time-range.js';

/** A day and its midnight, as the ends of a range (spec/beyond.md R2). */
describe('ranges of time', () => {
  const day = '2026-03-01';
  const midnight = '2026-03-01T00:00:00Z';
  const ways = { readTimeRange, readHalfOpenRange, requireHalfOpenRange } as const;
  const faultOf = (way: keyof typeof ways, from: string, to: string): string | null => {
    try {
      ways[way]({ from, to });
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const cases: readonly (readonly [keyof typeof ways, string, string, boolean])[] = [
    // Of a list a date in `to` is its whole day.
    ['readTimeRange', day, day, true],
    ['readTimeRange', midnight, midnight, false],
    ['readTimeRange', '2026-03-02', day, false],
    // Between equal ends there is nothing to be read,
    ['readHalfOpenRange', day, day, true],
    ['readHalfOpenRange', '2026-03-02', day, false],
    // and nothing to be done.
    ['requireHalfOpenRange', day, '2026-03-02', true],
    ['requireHalfOpenRange', day, day, false],
    ['requireHalfOpenRange', day, midnight, false],
    ['requireHalfOpenRange', '2026-03-02', day, false],
  ];
  for (const [way, from, to, isTaken] of cases) {
    it(`${way}: ${from} to ${to} is ${isTaken ? 'taken' : 'refused with both'}`, () => {
      expect(faultOf(way, from, to)).to.equal(
        isTaken ? null : `'from' must be before 'to': '${from}' is not before '${to}'`,
      );
    });
  }
});
