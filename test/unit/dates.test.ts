import { assert } from 'chai';
import { dayBefore, isCalendarDate, utcDate } from '../../src/kernel/time/date.js';

describe('kernel/date', () => {
  const dates: [text: string, isDate: boolean][] = [
    ['2024-02-29', true],
    ['2023-02-29', false],
    ['2000-02-29', true],
    ['1900-02-29', false],
    ['2100-02-29', false],
    ['2026-02-30', false],
    ['2026-02-28', true],
    ['2026-04-31', false],
    ['2026-12-31', true],
    ['2026-13-01', false],
    ['2026-00-10', false],
    ['2026-01-00', false],
    ['2026-01-32', false],
    ['0001-01-01', true],
    ['9999-12-31', true],
    ['0000-01-01', false],
    ['10000-01-01', false],
    ['+002026-01-01', false],
    ['-0001-01-01', false],
    ['2026-1-1', false],
    ['20260101', false],
    ['2026/01/01', false],
    ['2026-01-01T00:00:00Z', false],
    ['2026-01-01 ', false],
    [' 2026-01-01', false],
    ['2026-01-01\n', false],
    ['٢٠٢٦-٠١-٠١', false],
    ['today', false],
    ['', false],
  ];
  for (const [text, isDate] of dates) {
    it(`${JSON.stringify(text)} is ${isDate ? 'a' : 'no'} calendar date`, () => {
      assert.equal(isCalendarDate(text), isDate);
    });
  }

  it('takes every day of four centuries, and none that follows the last of a month', () => {
    const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const two = (value: number) => String(value).padStart(2, '0');
    for (let year = 1800; year < 2200; year += 1) {
      const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
      for (const [index, days] of monthDays.entries()) {
        const last = index === 1 && isLeap ? 29 : days;
        assert.isTrue(isCalendarDate(`${year}-${two(index + 1)}-${two(last)}`));
        assert.isFalse(isCalendarDate(`${year}-${two(index + 1)}-${two(last + 1)}`));
      }
    }
  });

  const instants: [instant: string, date: string][] = [
    ['2024-02-29T23:59:59.999Z', '2024-02-29'],
    ['2024-03-01T00:00:00.000Z', '2024-03-01'],
    // 01:30 in Berlin on 1 January is still the old year in UTC.
    ['2025-01-01T00:30:00+01:00', '2024-12-31'],
  ];
  for (const [instant, date] of instants) {
    it(`${instant} is on ${date} in UTC`, () => {
      assert.equal(utcDate(new Date(instant)), date);
    });
  }

  const daysBefore: [date: string, before: string][] = [
    ['2024-03-01', '2024-02-29'],
    ['2023-03-01', '2023-02-28'],
    ['2024-01-01', '2023-12-31'],
    ['2024-05-15', '2024-05-14'],
  ];
  for (const [date, before] of daysBefore) {
    it(`${before} is before ${date}`, () => {
      assert.equal(dayBefore(date), before);
    });
  }
});
