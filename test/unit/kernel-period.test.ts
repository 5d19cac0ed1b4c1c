import { assert } from 'chai';
import { frequencies, periodOf, type Frequency } from '../../src/kernel/time/period.js';

describe('kernel/period', () => {
  const periods: [frequency: Frequency | 'none', date: string, start: string, end: string][] = [
    ['none', '2024-02-29', '0001-01-01', '9999-12-31'],
    ['Daily', '2024-02-29', '2024-02-29', '2024-03-01'],
    ['Daily', '2023-12-31', '2023-12-31', '2024-01-01'],
    // 2024-01-01 is a Monday.
    ['Weekly', '2024-01-01', '2024-01-01', '2024-01-08'],
    ['Weekly', '2024-01-07', '2024-01-01', '2024-01-08'],
    ['Weekly', '2024-01-08', '2024-01-08', '2024-01-15'],
    ['Weekly', '2023-12-31', '2023-12-25', '2024-01-01'],
    // 2026-11-21 is a Saturday; its Monday is the 16th.
    ['Weekly', '2026-11-21', '2026-11-16', '2026-11-23'],
    ['Fortnightly', '2024-01-01', '2024-01-01', '2024-01-15'],
    ['Fortnightly', '2024-01-14', '2024-01-01', '2024-01-15'],
    ['Fortnightly', '2024-01-15', '2024-01-15', '2024-01-29'],
    ['Fortnightly', '2023-12-31', '2023-12-18', '2024-01-01'],
    ['Fortnightly', '2023-12-17', '2023-12-04', '2023-12-18'],
    ['Monthly', '2024-02-29', '2024-02-01', '2024-03-01'],
    ['Monthly', '2023-02-28', '2023-02-01', '2023-03-01'],
    ['Monthly', '2024-12-31', '2024-12-01', '2025-01-01'],
    ['Quarterly', '2024-03-31', '2024-01-01', '2024-04-01'],
    ['Quarterly', '2024-04-01', '2024-04-01', '2024-07-01'],
    ['Quarterly', '2024-12-31', '2024-10-01', '2025-01-01'],
    ['Half Yearly', '2024-06-30', '2024-01-01', '2024-07-01'],
    ['Half Yearly', '2024-07-01', '2024-07-01', '2025-01-01'],
    ['Yearly', '2024-12-31', '2024-01-01', '2025-01-01'],
    ['Yearly', '2025-01-01', '2025-01-01', '2026-01-01'],
  ];
  for (const [frequency, date, start, end] of periods) {
    it(`${frequency} of ${date} is [${start}, ${end})`, () => {
      assert.deepEqual(periodOf(frequency, date), { start, end });
    });
  }

  for (const frequency of frequencies) {
    it(`${frequency}: five years are covered without a gap or an overlap`, () => {
      let period = periodOf(frequency, '2022-01-01');
      for (let day = Date.UTC(2022, 0, 1); day < Date.UTC(2027, 0, 1); day += 86_400_000) {
        const date = new Date(day).toISOString().slice(0, 10);
        if (date === period.end) {
          period = periodOf(frequency, date);
          assert.equal(period.start, date);
        }
        assert.deepEqual(periodOf(frequency, date), period);
      }
    });
  }
});
