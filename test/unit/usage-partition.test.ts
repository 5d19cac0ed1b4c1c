import { expect } from 'chai';
import { usageEventId } from '../../src/messages/usage-log.js';
import {
  agesOf,
  monthOf,
  timeOfId,
  type UsagePartition,
} from '../../src/models/usage/finding/usage-partition.js';

const day = (text: string): Date => new Date(`${text}T00:00:00Z`);

/** As [from, null: the beginning; to; whether it has rows]. */
const parts = (...given: [string | null, string, boolean][]): UsagePartition[] =>
  given.map(([from, to, hasRows]) => ({
    parent: 'usage_event',
    name: to,
    from: from === null ? null : day(from),
    to: day(to),
    hasRows,
  }));

const now = day('2026-11-24');

/** spec/beyond.md R110. As [what, partitions, filled, made until, end of the oldest one with rows]. */
const cases: readonly [string, UsagePartition[], number, string, string | null][] = [
  ['nothing', [], 0, '2026-11-24', null],
  [
    'months ahead',
    parts(
      [null, '2026-11-01', true],
      ['2026-11-01', '2026-12-01', true],
      ['2026-12-01', '2027-01-01', false],
    ),
    2,
    '2027-01-01',
    '2026-11-01',
  ],
  [
    'a month that is missing',
    parts([null, '2026-12-01', true], ['2027-01-01', '2027-02-01', false]),
    1,
    '2026-12-01',
    '2026-12-01',
  ],
  ['nothing from now on', parts([null, '2026-11-01', false]), 0, '2026-11-24', null],
  [
    'another order',
    parts(['2026-12-01', '2027-01-01', false], ['2026-11-01', '2026-12-01', true]),
    1,
    '2027-01-01',
    '2026-12-01',
  ],
];

describe('partitions of usage', () => {
  for (const [what, given, filled, madeUntil, oldestEnd] of cases) {
    it(`know of ${what}`, () => {
      expect(agesOf(given, now)).to.deep.equal({
        filled,
        madeUntil: day(madeUntil),
        oldestEnd: oldestEnd === null ? null : day(oldestEnd),
      });
    });
  }

  /** As [instant, month that it is in]. */
  for (const [at, month] of [
    ['2026-11-01T00:00:00.000Z', '2026-11-01'],
    ['2026-11-30T23:59:59.999Z', '2026-11-01'],
    ['2024-02-29T12:00:00.000Z', '2024-02-01'],
    ['1970-01-01T00:00:00.000Z', '1970-01-01'],
  ] as const) {
    it(`divide at midnight UTC: ${at}`, () => {
      expect(monthOf(new Date(at))).to.deep.equal(day(month));
      expect(timeOfId(usageEventId(new Date(at), 7, 12))).to.deep.equal(new Date(at));
    });
  }
});
