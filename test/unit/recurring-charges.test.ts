import { expect } from 'chai';
import { earliestPeriod } from '../../src/commands/billing/recurring/recurring-charges.js';
import { dueOnce } from '../../src/kernel/time/billing-calendar.js';

const days = (first: string, last: string) => ({ first, last });

describe('how far back a billing run looks for what is charged already', () => {
  const monthly = (first: string, last: string) => ({
    isOnce: false,
    due: { period: days(first, last), billed: days(first, last) },
  });
  const due = dueOnce(days('2028-03-31', '2028-12-31'), days('2028-03-01', '2028-03-31'));
  const setup = due ? [{ isOnce: true, due }] : [];

  it('goes to the first period that is due, though a one-time charge is due beside it', () => {
    const candidates = [monthly('2028-03-01', '2028-03-31'), ...setup];
    expect(earliestPeriod(candidates)).to.equal('2028-03-01');
  });

  it('needs no day where only one-time charges are due', () => {
    expect(setup).to.have.length(1);
    expect(earliestPeriod(setup)).to.equal(undefined);
  });
});
