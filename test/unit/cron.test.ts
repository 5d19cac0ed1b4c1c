import { expect } from 'chai';
import { nextOccurrence } from '../../src/kernel/time/cron.js';

// spec/beyond.md R339
describe('a cron falls due', () => {
  const cases: readonly [string, string, string | undefined, string, string | undefined][] = [
    ['every day', '30 2 * * *', undefined, '2026-11-25T02:30:00Z', '2026-11-26T02:30:00.000Z'],
    ['later today', '30 2 * * *', undefined, '2026-11-25T02:29:59Z', '2026-11-25T02:30:00.000Z'],
    [
      'on minutes of a list',
      '0,15,45 * * * *',
      'UTC',
      '2026-11-25T02:20:00Z',
      '2026-11-25T02:45:00.000Z',
    ],
    ['in steps of hours', '0 */6 * * *', 'UTC', '2026-11-25T12:00:00Z', '2026-11-25T18:00:00.000Z'],
    [
      'in steps from an hour on',
      '0 9/4 * * *',
      'UTC',
      '2026-11-25T18:00:00Z',
      '2026-11-25T21:00:00.000Z',
    ],
    // 2026-11-27 is a Friday.
    [
      'on days of the week',
      '0 9 * * 1-5',
      'UTC',
      '2026-11-27T09:00:00Z',
      '2026-11-30T09:00:00.000Z',
    ],
    [
      'on Sundays by either number',
      '0 0 * * 7',
      'UTC',
      '2026-11-25T00:00:00Z',
      '2026-11-29T00:00:00.000Z',
    ],
    ['on the 31st alone', '0 0 31 * *', 'UTC', '2026-11-01T00:00:00Z', '2026-12-31T00:00:00.000Z'],
    ['on 29 February', '0 0 29 2 *', 'UTC', '2026-11-25T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    [
      'across 2100, no leap year',
      '0 0 29 2 *',
      'UTC',
      '2096-03-01T00:00:00Z',
      '2104-02-29T00:00:00.000Z',
    ],
    ['never', '0 0 30 2 *', 'UTC', '2026-11-25T00:00:00Z', undefined],
    // The 1st, or a Monday (2026-11-30).
    [
      'on either of two days',
      '0 0 1 * 1',
      'UTC',
      '2026-11-25T00:00:00Z',
      '2026-11-30T00:00:00.000Z',
    ],
    // Berlin is one hour ahead in winter, two in summer.
    [
      'by the hours of a zone',
      '0 6 * * *',
      'Europe/Berlin',
      '2026-11-25T05:00:00Z',
      '2026-11-26T05:00:00.000Z',
    ],
    [
      'by its summer',
      '0 6 * * *',
      'Europe/Berlin',
      '2026-07-01T00:00:00Z',
      '2026-07-01T04:00:00.000Z',
    ],
    // Clocks go from 2:00 to 3:00 on 2027-03-28: 2:30 would be 1:30 UTC, which they show as 3:30.
    [
      'when its time is left out',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-27T12:00:00Z',
      '2027-03-28T01:30:00.000Z',
    ],
    [
      'and then as usual',
      '30 2 * * *',
      'Europe/Berlin',
      '2027-03-28T01:30:00Z',
      '2027-03-29T00:30:00.000Z',
    ],
    // Clocks go from 3:00 back to 2:00 on 2026-10-25: 2:30 is 0:30 UTC, and 1:30 UTC again.
    [
      'once when it is shown twice',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00:00Z',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'and not the second time',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00.000Z',
    ],
    // Kolkata is 5:30 ahead; in Apia, 13 hours ahead, it is tomorrow already.
    [
      'in zones with halves of hours',
      '0 0 * * *',
      'Asia/Kolkata',
      '2026-11-25T00:00:00Z',
      '2026-11-25T18:30:00.000Z',
    ],
    [
      'on the day of the zone',
      '0 1 26 * *',
      'Pacific/Apia',
      '2026-11-25T00:00:00Z',
      '2026-11-25T12:00:00.000Z',
    ],
  ];
  for (const [name, cron, timeZone, after, expected] of cases) {
    it(name, () => {
      const next = nextOccurrence({ cron, timeZone }, new Date(after));
      expect(next?.toISOString()).to.equal(expected);
    });
  }
});
