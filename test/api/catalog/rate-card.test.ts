import { expect } from 'chai';
import {
  callsRow,
  card,
  dayFromToday,
  makeServiceWithCards,
  noSuchId,
  services,
} from '../../support/billing/catalog.js';
import { external } from '../../support/servers/instance.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const tier = (tierNum: number, tierMinVal: number, tierMaxVal: number | null) => ({
  tierNum,
  tierMinVal,
  tierMaxVal,
  tierUnitRate: 1,
});
const row = (fields: object) => ({ priceDimName: 'API Calls', label: 'Calls', ...fields });
const tiered = (...rateCardTiers: object[]) => row({ priceMethod: 'TIERED', rateCardTiers });

describe('rate cards', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const make = (fields: object = {}) => makeServiceWithCards(tenant, fields);
  describe('POST, GET and lists', () => {
    // spec/resources.md R49, R50, R87
    it('make version 1 of a currency, read by code or name', async () => {
      const { address, callsId } = await make();
      const written = card('us dollar', row({ priceMethod: 'FLAT_RATE', flatRate: 9.5 }));
      const { body } = await tenant.post(address, written).expect(201);
      expect(body).to.include({ currency: 'USD', versionNo: 1, isCurrent: true });
      expect(body.fromDate).to.be.oneOf([dayFromToday(0), dayFromToday(-1)]);
      expect(body).to.not.have.property('toDate');
      expect(body.rows).to.have.length(1);
      expect(body.rows[0]).to.deep.include({ priceDimId: callsId, label: 'Calls', flatRate: 9.5 });
      expect(body.rows[0]).to.deep.include({ usageType: 'Charge', attributeValues: [] });
      expect(body.rows[0]).to.not.have.property('priceDimName');
      for (const currency of ['USD', 'usd', 'US%20Dollar']) {
        expect((await tenant.get(`${address}/${currency}`).expect(200)).body).to.deep.equal(body);
      }
      await tenant.post(address, card('USD', callsRow(1))).expect(409);
      await tenant.post(address, card('EUR', callsRow(1))).expect(201);
      const { body: page } = await tenant.get(`${address}?size=1&page=1`).expect(200);
      expect(page).to.include({ totalElements: 2, totalPages: 2, size: 1, page: 1 });
      expect(page.content).to.deep.equal([body]);
    });

    // spec/resources.md R25
    it('keep every digit of a price', async () => {
      const { address } = await make();
      const small = '0.000000000123456789';
      const large = '12345678901234567.89';
      const rows = [
        `{"priceDimName":"API Calls","label":"a","attributeValues":[{"attributeName":"x","attributeValue":"a"}],"priceMethod":"QUANTITY","unitRate":${small}}`,
        `{"priceDimName":"API Calls","label":"b","attributeValues":[{"attributeName":"x","attributeValue":"b"}],"priceMethod":"FLAT_RATE","flatRate":${large}}`,
        `{"priceDimName":"API Calls","label":"c","attributeValues":[{"attributeName":"x","attributeValue":"c"}],"priceMethod":"AMOUNT","percentageRate":1e-5}`,
        `{"priceDimName":"API Calls","label":"d","priceMethod":"TIERED","rateCardTiers":[{"tierNum":1,` +
          `"tierMinVal":0,"tierMaxVal":${large},"tierUnitRate":${small}}]}`,
      ];
      const body = `{"currency":"USD","rows":[${rows.join(',')}]}`;
      await tenant.post(address, body).expect(201);
      const { text } = await tenant.get(`${address}/USD`).expect(200);
      expect(text).to.include(`"unitRate":${small}`).and.include(`"flatRate":${large}`);
      expect(text).to.include('"percentageRate":0.00001');
      expect(text).to.include(`"tierMaxVal":${large},"tierUnitRate":${small}`);
      const again = await tenant.put(`${address}/USD`, text).expect(200);
      expect(again.text.replace(/"(?:id|priceDimId)":"[^"]*"/g, '')).to.equal(
        text.replace(/"(?:id|priceDimId)":"[^"]*"/g, ''),
      );
      const tooLong = body.replace(small, '0.1234567890123456789');
      await tenant.put(`${address}/USD`, tooLong).expect(400);
    });

    // spec/resources.md R55
    it('answer 404 where nothing is', async () => {
      const { address } = await make();
      const written = card('EUR', callsRow(1));
      await tenant.post(address, written).expect(201);
      const stranger = await instance.tenant();
      const nowhere = `${services}/${noSuchId}/rate-cards`;
      for (const [client, at] of [
        [tenant, nowhere],
        [stranger, address],
      ] as const) {
        await client.get(at).expect(404);
        await client.get(`${at}/EUR`).expect(404);
        await client.get(`${at}/EUR/versions`).expect(404);
        await client.post(at, written).expect(404);
        await client.put(`${at}/EUR`, written).expect(404);
        await client.delete(`${at}/EUR`).expect(404);
      }
      for (const currency of ['USD', 'nothing', 'x%00']) {
        await tenant.get(`${address}/${currency}`).expect(404);
        await tenant.get(`${address}/${currency}/versions`).expect(404);
        await tenant.delete(`${address}/${currency}`).expect(404);
      }
      await tenant.put(`${address}/USD`, card('USD', callsRow(1))).expect(404);
      await tenant.put(`${address}/nothing`, written).expect(404);
      await tenant.get(`${address}?page=x`).expect(400);
      await tenant.get(`${address}/EUR/versions?size=x`).expect(400);
    });
  });

  describe('rows', () => {
    const flat = { priceMethod: 'FLAT_RATE', flatRate: 1 };
    const refusals: [string, object, string][] = [
      ['no rows', { currency: 'USD' }, "'rows' is required"],
      ['empty rows', { currency: 'USD', rows: [] }, "'rows' must have at least 1 item"],
      ['no currency', { rows: [row(flat)] }, "'currency' is required"],
      ['no label', card('USD', { ...row(flat), label: undefined }), "'rows[0].label' is required"],
      ['no price method', card('USD', row({})), "'rows[0].priceMethod'"],
      [
        'an unknown price method',
        card('USD', row({ priceMethod: 'FREE' })),
        "'rows[0].priceMethod' 'FREE' must be one of: FLAT_RATE, TIERED, QUANTITY, AMOUNT, NO_PRICE",
      ],
      [
        'a rate field of another method',
        card('USD', row({ ...flat, unitRate: 1 })),
        "'rows[0].unitRate' is not a known property",
      ],
      [
        'rate fields where there is no price',
        card('USD', row(flat), row({ ...flat, priceMethod: 'NO_PRICE' })),
        "'rows[1].flatRate' is not a known property",
      ],
      [
        'a reset frequency without tiers',
        card('USD', row({ ...flat, resetFrequency: 'Daily' })),
        "'rows[0].resetFrequency' is not a known property",
      ],
      ['no rate', card('USD', row({ priceMethod: 'QUANTITY' })), "'rows[0].unitRate' is required"],
      [
        'a rate that is no number',
        card('USD', row({ ...flat, flatRate: '1' })),
        "'rows[0].flatRate' must be a number",
      ],
      ['no tiers', card('USD', row({ priceMethod: 'TIERED' })), "'rows[0].rateCardTiers'"],
      ['empty tiers', card('USD', tiered()), "'rows[0].rateCardTiers' must have at least 1 item"],
      [
        'tiers out of order',
        card('USD', tiered(tier(2, 0, 10), tier(1, 10, null))),
        "'rows[0]': tier 1 must not come after tier 2",
      ],
      [
        'a gap between tiers',
        card('USD', row(flat), tiered(tier(1, 0, 10), tier(2, 12, null))),
        "'rows[1]': tierMinVal of tier 2 must be 10 or 11",
      ],
      [
        'an open tier that is not the last',
        card('USD', tiered(tier(1, 0, null), tier(2, 10, 20))),
        'only the last may be',
      ],
      [
        'a tier that ends before it starts',
        card('USD', tiered(tier(1, 5, 5))),
        'tierMaxVal of tier 1 must be greater than 5',
      ],
      [
        'no attribute',
        card('USD', { label: 'x', ...flat }),
        "'rows[0].priceDimName' or priceDimId is required",
      ],
      [
        'an unknown attribute name',
        card('USD', row({ ...flat, priceDimName: 'Calls' })),
        "'rows[0].priceDimName' names no priceable attribute: Calls",
      ],
      [
        'an input attribute',
        card('USD', row({ ...flat, priceDimName: 'seats' })),
        "'rows[0].priceDimName' names no priceable attribute: seats",
      ],
      [
        'an unknown attribute id',
        card('USD', { label: 'x', ...flat, priceDimId: noSuchId }),
        `'rows[0].priceDimId' names no priceable attribute: ${noSuchId}`,
      ],
      ['an id that is none', card('USD', row({ ...flat, priceDimId: 'x' })), 'rows[0].priceDimId'],
      [
        'a billing account that is not there',
        card('USD', row({ ...flat, billingAccountId: noSuchId })),
        "'rows[0].billingAccountId' names no account",
      ],
      ['an unknown usage type', card('USD', row({ ...flat, usageType: 'Gift' })), 'Charge, Payout'],
      [
        'a condition that comes twice',
        card(
          'USD',
          row({
            ...flat,
            attributeValues: [
              { attributeName: 'a', attributeValue: '1' },
              { attributeName: 'a', attributeValue: '2' },
            ],
          }),
        ),
        "'rows[0].attributeValues[1].attributeName' names 'a' a second time",
      ],
      [
        'an unknown property of a condition',
        card('USD', row({ ...flat, attributeValues: [{ attributeName: 'a', value: '1' }] })),
        "'rows[0].attributeValues[0].value' is not a known property",
      ],
      ['a name of the past', card('DEM', row(flat)), "'currency'"],
    ];
    for (const [what, body, message] of refusals) {
      // spec/resources.md R46 to R48
      it(`are refused with ${what}, by POST and by PUT`, async () => {
        const { address } = await make({ rateCards: [card('EUR', callsRow(7))] });
        const { body: answer } = await tenant.post(address, body).expect(400);
        expect(answer).to.include({ status: 400, error: 'Validation Error' });
        expect(answer.message).to.include(message);
        await tenant.get(`${address}/USD`).expect(404);
        await tenant
          .put(`${address}/EUR`, { ...body, currency: 'EUR' })
          .expect(what === 'no currency' || what === 'a name of the past' ? 200 : 400);
      });
    }

    // spec/resources.md R48
    it('take an id, a name, or both where they agree', async () => {
      const { address, callsId } = await make();
      const flat = { label: 'x', priceMethod: 'NO_PRICE' };
      const { body } = await tenant
        .post(
          address,
          card(
            'USD',
            { ...flat, priceDimId: callsId.toUpperCase() },
            { ...flat, priceDimId: callsId, priceDimName: 'API Calls' },
            { ...flat, priceDimId: null, priceDimName: 'API Calls' },
          ),
        )
        .expect(201);
      for (const { priceDimId } of body.rows) expect(priceDimId).to.equal(callsId);
      const contradiction = { ...flat, priceDimId: callsId, priceDimName: 'Storage' };
      const { body: answer } = await tenant.post(address, card('EUR', contradiction)).expect(400);
      expect(answer.message).to.include("which names 'API Calls'");
    });

    it('take accounts of the tenant to be billed, and no others', async () => {
      const { address } = await make();
      const account = await tenant.post(`${external}/accounts`, { name: 'Payer' }).expect(201);
      const accountId = String(account.body.id);
      const { body } = await tenant
        .post(address, card('USD', callsRow(1, { billingAccountId: accountId.toUpperCase() })))
        .expect(201);
      expect(body.rows[0].billingAccountId).to.equal(accountId);
      const stranger = await instance.tenant();
      const theirs = await stranger.post(`${external}/accounts`, { name: 'X' }).expect(201);
      await tenant
        .post(address, card('EUR', callsRow(1, { billingAccountId: theirs.body.id })))
        .expect(400);
    });

    it('may be many', async () => {
      const { address } = await make();
      const rows = Array.from({ length: 5_000 }, (_, index) =>
        callsRow(index, { attributeValues: [{ attributeName: 'n', attributeValue: `${index}` }] }),
      );
      const { body } = await tenant.post(address, card('USD', ...rows)).expect(201);
      expect(body.rows.map(({ unitRate }: { unitRate: number }) => unitRate)).to.deep.equal(
        rows.map((_, index) => index),
      );
    }).timeout(20_000);
  });
});
