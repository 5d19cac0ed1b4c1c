import { expect } from 'chai';
import { startsOf, timeOf, zoomedTo } from '../../src/console/usage/zoom.js';

// spec/beyond.md R453
describe('the time that a choice of bars shows', () => {
  for (const [bucket, first, last, to, shown] of [
    ['day', '2026-03-02', '2026-03-06', '2026-03-07', 'day'],
    // Two days and three have hours enough.
    ['day', '2026-02-27', '2026-02-28', '2026-03-01', 'hour'],
    ['day', '2026-03-03', '2026-03-05', '2026-03-06', 'hour'],
    ['week', '2026-03-02', '2026-03-16', '2026-03-23', 'day'],
    // 16 weeks are 112 days: too many to look at.
    ['week', '2026-01-05', '2026-04-20', '2026-04-27', 'week'],
    ['month', '2026-11-01', '2026-12-01', '2027-01-01', 'day'],
    ['month', '2026-01-01', '2026-12-01', '2027-01-01', 'month'],
  ] as const) {
    it(`of ${first} to ${last} by ${bucket}`, () => {
      const year = { from: '2026-01-01', to: '2027-01-01' };
      const zoomed = { from: first, to, bucket: shown };
      expect(zoomedTo([first, last], bucket, year)).to.deep.equal(zoomed);
    });
  }

  it('is of minutes where it is six hours or less, and of hours where it is more', () => {
    const shown = { from: '2026-03-08', to: '2026-03-09' };
    expect(
      zoomedTo(['2026-03-08T18:00:00.000Z', '2026-03-08T23:00:00.000Z'], 'hour', shown),
    ).to.deep.equal({ from: '2026-03-08T18:00:00Z', to: '2026-03-09', bucket: 'minute' });
    expect(
      zoomedTo(['2026-03-08T10:00:00.000Z', '2026-03-08T16:00:00.000Z'], 'hour', shown),
    ).to.deep.equal({
      from: '2026-03-08T10:00:00Z',
      to: '2026-03-08T17:00:00Z',
      bucket: 'hour',
    });
  });

  it('is none that was not shown: weeks and months begin before it, and end after it', () => {
    const shown = { from: '2026-03-10', to: '2026-04-10' };
    // The weeks of 9 and 16 March, of which 9 March is not shown: thirteen days.
    expect(zoomedTo(['2026-03-09', '2026-03-16'], 'week', shown)).to.deep.equal({
      from: '2026-03-10',
      to: '2026-03-23',
      bucket: 'day',
    });
    expect(zoomedTo(['2026-03-01', '2026-04-01'], 'month', shown)).to.deep.equal({
      ...shown,
      bucket: 'day',
    });
  });
});

// spec/beyond.md R368
describe('the time of a bar, as lists of events take it', () => {
  const shown = { from: '2026-03-10', to: '2026-04-10' };
  for (const [bucket, start, from, to] of [
    ['minute', '2026-03-31T23:59:00.000Z', '2026-03-31T23:59:00Z', '2026-04-01T00:00:00Z'],
    ['hour', '2026-03-31T23:00:00.000Z', '2026-03-31T23:00:00Z', '2026-04-01T00:00:00Z'],
    ['day', '2026-03-31T00:00:00.000Z', '2026-03-31', '2026-03-31'],
    ['week', '2026-03-16T00:00:00.000Z', '2026-03-16', '2026-03-22'],
    // Of the first and the last what is shown.
    ['week', '2026-03-09T00:00:00.000Z', '2026-03-10', '2026-03-15'],
    ['month', '2026-04-01T00:00:00.000Z', '2026-04-01', '2026-04-09'],
    ['month', '2026-03-01T00:00:00.000Z', '2026-03-10', '2026-03-31'],
  ] as const) {
    it(`of the ${bucket} from ${start}`, () => {
      expect(timeOf(start, bucket, shown)).to.deep.equal({ from, to });
    });
  }

  it('is a part of a day where a part of it is shown', () => {
    const part = { from: '2026-03-10T06:00:00Z', to: '2026-03-12' };
    expect(timeOf('2026-03-10T00:00:00.000Z', 'day', part)).to.deep.equal({
      from: '2026-03-10T06:00:00Z',
      to: '2026-03-11T00:00:00Z',
    });
  });
});

// spec/beyond.md R592
describe('the bars of a time', () => {
  const none = { used: [] };
  const barsOf = (...asked: Parameters<typeof startsOf>) => startsOf(...asked).starts;
  const dayOf = (start: string): string => start.slice(0, 10);

  it('begin with the step that the time begins in, and end with the one that it ends in', () => {
    const april = { from: '2026-03-30', to: '2026-04-02' };
    expect(barsOf(april, 'day', none)).to.deep.equal([
      '2026-03-30T00:00:00.000Z',
      '2026-03-31T00:00:00.000Z',
      '2026-04-01T00:00:00.000Z',
    ]);
    // 10 March is a Tuesday.
    const weeks = barsOf({ from: '2026-03-10', to: '2026-03-24' }, 'week', none);
    expect(weeks.map(dayOf)).to.deep.equal(['2026-03-09', '2026-03-16', '2026-03-23']);
    const months = barsOf({ from: '2025-12-31', to: '2026-02-02' }, 'month', none);
    expect(months.map(dayOf)).to.deep.equal(['2025-12-01', '2026-01-01', '2026-02-01']);
    const part = { from: '2026-03-10T06:30:00Z', to: '2026-03-10T08:00:00Z' };
    expect(barsOf(part, 'hour', none).map((start) => start.slice(11, 16))).to.deep.equal([
      '06:00',
      '07:00',
    ]);
    expect(barsOf(part, 'minute', none)).to.have.length(90);
    // Before 1970, too.
    expect(barsOf({ from: '1969-12-31', to: '1970-01-02' }, 'week', none).map(dayOf)).to.deep.equal(
      ['1969-12-29'],
    );
  });

  it('end with now, or with what is later all the same, and before what is not known', () => {
    const from = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
    expect(barsOf({ from, to: '9999-12-31' }, 'day', none)).to.have.length(3);
    const used = [new Date(Date.parse(from) + 4 * 86_400_000).toISOString()];
    expect(barsOf({ from, to: '9999-12-31' }, 'day', { used })).to.have.length(5);
    const march = { from: '2026-03-01', to: '2026-04-01' };
    const first = { used: ['2026-03-02T00:00:00.000Z'], hasMore: true };
    expect(barsOf(march, 'day', first).map(dayOf)).to.deep.equal(['2026-03-01', '2026-03-02']);
  });

  it('are those alone that have something where there would be more than a thousand', () => {
    const used = [
      '2026-01-02T03:00:00.000Z',
      '2026-01-01T01:00:00.000Z',
      '2026-01-02T03:00:00.000Z',
    ];
    const year = { from: '2025-01-01', to: '2026-02-01' };
    expect(barsOf(year, 'hour', { used })).to.deep.equal([used[1], used[0]]);
    expect(startsOf(year, 'hour', { used }).hasGaps).to.equal(true);
    // 1,000 hours are 41 days and 16 hours.
    const most = { from: '2025-01-01', to: '2025-02-11T16:00:00Z' };
    expect(barsOf(most, 'hour', none)).to.have.length(1_000);
    expect(barsOf({ ...most, to: '2025-02-11T17:00:00Z' }, 'hour', none)).to.deep.equal([]);
    expect(startsOf(most, 'hour', none).hasGaps).to.equal(false);
    expect(barsOf(year, 'none', { used: ['', ''] })).to.deep.equal(['']);
  });
});
