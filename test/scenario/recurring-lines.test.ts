import { expect } from 'chai';
import type { Period } from '../support/story/periods.js';
import { every, subscription } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';

describe('what lines of contracts charge by the month', () => {
  const story = useStory({ forEachTest: true });

  /** A contract with a line at 10 a seat and month, by days. */
  const sell = async (accountId: string, contract: object = {}, line: object = {}) => {
    const serviceId = await story.service('Seats', subscription('Seats', 10));
    return story.subscribe(accountId, [{ serviceId, ...line }], {
      startDate: '2026-01-01',
      ...contract,
    });
  };

  it('counts what its dimension values say', async () => {
    const masterAccountId = await story.account('acme');
    await sell(masterAccountId, {}, { dimensionValues: { Seats: '7' } });
    // 7 x 10.
    expect((await story.bill('2026-01')).lines).to.deep.equal(['Seats 2026-01-01..2026-01-31 70']);
  });

  it('ends with its contract, also where its own end is later', async () => {
    const masterAccountId = await story.account('acme');
    await sell(masterAccountId, { endDate: '2026-01-08' }, { endDate: '2026-12-31' });
    // 10 x 8 / 31 = 2.5806...
    expect((await story.bill('2026-01')).lines).to.deep.equal([
      'Seats 2026-01-01..2026-01-08 2.58',
    ]);
    expect((await story.bill('2026-02')).lines).to.deep.equal([]);
  });

  it('charges no period twice when the contract moves to another account', async () => {
    const masterAccountId = await story.account('acme');
    const other = await story.account('other');
    const contract = await sell(masterAccountId);
    const january = ['Seats 2026-01-01..2026-01-31 10'];
    expect((await story.bill('2026-01')).lines).to.deep.equal(january);
    await story.changeContract(contract, { masterAccountId: other });
    expect((await story.bill('2026-01')).lines).to.deep.equal([]);
    expect((await story.bill('2026-02')).lines).to.deep.equal(['Seats 2026-02-01..2026-02-28 10']);
  });

  describe('and days that no invoice charges', () => {
    const [quarterly, monthly] = [every('Quarterly'), every('Monthly')];
    /** The charges of a run, and the days that it names. */
    const run = async (period: Period) => {
      const { run: output, lines: charged } = await story.bill(period);
      const named = output.problems.map(({ code, message }) => {
        expect(code).to.equal('DAYS_NOT_CHARGED');
        return /ran on (.*) and no invoice/.exec(message)?.[1];
      });
      return { charged, named };
    };
    const sellFrom = async (startDate: string, terms: object) => {
      const accountId = await story.account('acme');
      const { lines } = await sell(accountId, { startDate, number: 'C-1' }, terms);
      return (change: object) => story.changeLine(lines[0]?.id, change);
    };

    it('are named when the frequency changes before its period was billed', async () => {
      const change = await sellFrom('2027-01-01', quarterly);
      expect(await run('2027-01')).to.deep.equal({ charged: [], named: [] });
      await change(monthly);
      // 10 for March; of January and February nobody was asked for anything.
      const march = { charged: ['Seats 2027-03-01..2027-03-31 10'] };
      const named = ['2027-01-01 to 2027-02-28'];
      const { problems } = await story.preview('2027-03');
      expect(problems.map(({ message }) => message)).to.deep.equal([
        "'Seats' of contract C-1 ran on 2027-01-01 to 2027-02-28 and no invoice charges these " +
          'days: bill a period that ends with them, or, where an invoice has other days of the ' +
          'same period, void it and bill the period again.',
      ]);
      expect(await run('2027-03')).to.deep.equal({ ...march, named });
      // It says what to do: the two months at once, 10 each.
      expect(await run(['2027-01-01', '2027-02-28'])).to.deep.equal({
        charged: ['Seats 2027-01-01..2027-01-31 10', 'Seats 2027-02-01..2027-02-28 10'],
        named: [],
      });
      expect((await run('2027-04')).named).to.deep.equal([]);
    });

    it('are named when weeks become months', async () => {
      const weekly = { chargeFrequency: 'Weekly', billingFrequency: 'Weekly' };
      const change = await sellFrom('2027-03-01', weekly);
      // The weeks from Monday the 1st that have ended in March: to the 28th.
      expect((await run('2027-03')).charged).to.have.length(4);
      await change(monthly);
      expect(await run('2027-04')).to.deep.equal({
        charged: ['Seats 2027-04-01..2027-04-30 10'],
        named: ['2027-03-29 to 2027-03-31'],
      });
      // 10 x 3 / 31 = 0.9677...
      expect(await run('2027-03')).to.deep.equal({
        charged: ['Seats 2027-03-29..2027-03-31 0.97'],
        named: [],
      });
    });

    it('are named when the start is moved back, also within a month', async () => {
      const change = await sellFrom('2027-03-15', monthly);
      // 10 x 17 / 31 = 5.4838...
      const march = 'Seats 2027-03-15..2027-03-31 5.48';
      expect(await run('2027-03')).to.deep.equal({ charged: [march], named: [] });
      await change({ startDate: '2027-02-10' });
      expect(await run('2027-04')).to.deep.equal({
        charged: ['Seats 2027-04-01..2027-04-30 10'],
        named: ['2027-02-10 to 2027-03-14'],
      });
      // 10 x 19 / 28 = 6.7857...
      expect((await run('2027-02')).charged).to.deep.equal(['Seats 2027-02-10..2027-02-28 6.79']);
      await story.voidInvoice(await story.invoiceNumbered('INV-000001'), 'The start');
      expect((await run('2027-03')).charged).to.deep.equal(['Seats 2027-03-01..2027-03-31 10']);
      expect((await run('2027-05')).named).to.deep.equal([]);
    });

    it('are named when a run was left out or an invoice voided, once', async () => {
      await sellFrom('2027-01-01', monthly);
      await run('2027-01');
      expect((await run('2027-03')).named).to.deep.equal(['2027-02-01 to 2027-02-28']);
      expect((await run('2027-04')).named).to.deep.equal([]);
    });

    it('are none of those before a contract was known, or that just begins', async () => {
      // Taken over from elsewhere: what was before 2026-11 was billed there.
      await sellFrom('2020-01-01', monthly);
      expect((await run('2026-03')).named).to.deep.equal([]);
    });
  });
});
