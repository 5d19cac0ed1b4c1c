import { expect } from 'chai';
import { readExport } from '../support/billing/exports.js';
import { usage } from '../support/billing/usage.js';
import { every, flatPrice, priceOfEach, subscriptionOf, usdCard } from '../support/story/prices.js';
import { useStory } from '../support/story/story.js';
import { createWallet } from '../support/billing/wallets.js';

type Row = Record<string, unknown>;

/** What exports have of wallets, and of charges that no event makes. */
describe('exports of wallets and of all charges', () => {
  const story = useStory({ startsOn: '2026-04-02' });
  const { tenant, instance } = story;
  let accountId = '';
  let otherId = '';
  let walletId = '';
  let invoiceId: string | undefined;
  before(async () => {
    accountId = await story.account('acme');
    otherId = await story.account('other');
    const callsId = await story.service('Calls');
    const seatsId = await story.service('Seats', subscriptionOf(flatPrice('seats', 10)));
    const setupId = await story.service('Setup', {
      serviceType: 'OTC',
      priceableAttributes: [{ name: 'setup', dimensionDataType: 'Number' }],
      rateCards: [usdCard(priceOfEach('setup', 7))],
    });
    walletId = await createWallet(tenant, accountId, { balance: 12.5 });
    await createWallet(tenant, otherId, { currency: 'EUR', balance: 1 });
    await story.subscribe(accountId, [
      { serviceId: seatsId, startDate: '2026-03-01', ...every('Monthly') },
      { serviceId: setupId, startDate: '2026-03-02' },
    ]);
    // 300 calls at 0.01 = 3.00, of which the wallet pays all.
    const dimensions = { api_calls: '300' };
    await story.send(
      usage('acme', callsId, { dimensions, eventTimestamp: '2026-03-15T10:00:00Z' }),
    );
    const { invoices } = await story.bill('2026-03', { accountId });
    invoiceId = invoices[0]?.id;
  });

  const rows = async (address: string): Promise<Row[]> =>
    (await readExport(instance, tenant, address)).text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Row);

  // spec/beyond.md R300
  it('have each entry once, in the order of time, and go on behind a cursor', async () => {
    const all = await rows('wallet-entries');
    expect(all.pop()).to.deep.equal({ end: true, rows: all.length });
    const own = all.filter((row) => row['walletId'] === walletId);
    expect(
      own.map(({ number, kind, amount, balanceAfter }) => [number, kind, amount, balanceAfter]),
    ).to.deep.equal([
      [1, 'grant', 12.5, 12.5],
      [2, 'draw', -3, 9.5],
      // Two recurring charges, 10 and 7: all that is left.
      ...own.slice(2).map((row) => [row['number'], 'draw', row['amount'], row['balanceAfter']]),
    ]);
    expect(own.at(-1)).to.include({ balanceAfter: 0, accountId, currency: 'USD' });
    expect(own[0]).to.include({ externalId: 'opening', grantKind: 'purchased', held: null });
    const rest = await rows(`wallet-entries?after=${String(all[0]?.['cursor'])}`);
    expect(rest.slice(0, -1)).to.deep.equal(all.slice(1));
    const ofOther = await rows(`wallet-entries?accountId=${otherId}`);
    expect(ofOther).to.have.length(2);
    expect(ofOther[0]).to.include({ accountId: otherId, currency: 'EUR' });
    expect(await rows('wallet-entries?from=2026-04-03')).to.deep.equal([{ end: true, rows: 0 }]);
    const csv = (await readExport(instance, tenant, 'wallet-entries?format=csv')).text;
    expect(csv.endsWith(`# end, rows: ${all.length}\r\n`)).to.equal(true);
    const parquet = await readExport(instance, tenant, 'wallet-entries?format=parquet');
    expect(parquet.bytes.subarray(-4).toString()).to.equal('PAR1');
  });

  // spec/beyond.md R25
  it('of kind focus have subscriptions and one-time charges, until a void takes them back', async () => {
    const of = ({ ChargeCategory, ChargeFrequency, ServiceName, ...row }: Row) =>
      [
        ServiceName,
        ChargeCategory,
        ChargeFrequency,
        row['BilledCost'],
        row['ConsumedQuantity'],
        String(row['ChargePeriodStart']).slice(0, 10),
        String(row['ChargePeriodEnd']).slice(0, 10),
      ].join(' ');
    const usageRow = 'Calls Usage Usage-Based 3 300 2026-03-15 2026-03-16';
    const found = await rows(`focus?accountId=${accountId}`);
    expect(found.slice(0, -1).map(of)).to.deep.equal([
      'Seats Purchase Recurring 10  2026-03-01 2026-04-01',
      'Setup Purchase One-Time 7  2026-03-02 2026-03-03',
      usageRow,
    ]);
    const rest = await rows(`focus?after=${String(found[1]?.['cursor'])}`);
    expect(rest.slice(0, -1).map(of)).to.deep.equal([usageRow]);
    await story.voidInvoice(invoiceId);
    expect((await rows('focus')).slice(0, -1).map(of)).to.deep.equal([usageRow]);
  });
});
