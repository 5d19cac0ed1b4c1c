import { expect } from 'chai';
import { RateCard } from '../../../src/models/catalog/rate-card.js';
import { RateCardRow } from '../../../src/models/catalog/rate-card-row.js';
import {
  approveService,
  callsRow,
  card,
  dayFromToday,
  makeServiceWithCards,
  services,
} from '../../support/billing/catalog.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

interface Version {
  versionNo: number;
  isCurrent: boolean;
  fromDate: string;
  toDate?: string;
  rows: { unitRate: number }[];
}

describe('versions of rate cards', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);

  const make = (fields: object = {}) => makeServiceWithCards(tenant, fields);
  const versionsOf = async (address: string, currency: string): Promise<Version[]> => {
    const { body } = await tenant.get(`${address}/${currency}/versions`).expect(200);
    return body.content;
  };
  /** Moves a version into the past, as if it had been made on another day. */
  const backdate = async (serviceId: string, versionNo: number, fromDate: string) => {
    await RateCard.query(tenant.scope.db.read)
      .forTenant(tenant.id)
      .where({ serviceId, versionNo })
      .patch({ fromDate });
  };

  describe('PUT', () => {
    // spec/resources.md R52
    it('replaces the card of a draft service in its version', async () => {
      const { id, address } = await make({ rateCards: [card('USD', callsRow(1))] });
      await backdate(id, 1, '2026-01-05');
      const european = { attributeValues: [{ attributeName: 'region', attributeValue: 'eu' }] };
      const { body } = await tenant
        .put(`${address}/us%20dollar`, card('US Dollar', callsRow(2, european), callsRow(3)))
        .expect(200);
      expect(body).to.include({ versionNo: 1, isCurrent: true, fromDate: '2026-01-05' });
      expect(body.rows.map(({ unitRate }: { unitRate: number }) => unitRate)).to.deep.equal([2, 3]);
      expect(await versionsOf(address, 'USD')).to.deep.equal([body]);
    });

    // spec/resources.md R51, R55
    it('makes a version on an approved service; the one before ends the day before', async () => {
      const { id, address } = await make({ rateCards: [card('USD', callsRow(1))] });
      await approveService(tenant, id);
      await backdate(id, 1, '2026-01-05');
      const { body } = await tenant.put(`${address}/USD`, card('USD', callsRow(2))).expect(200);
      expect(body).to.include({ versionNo: 2, isCurrent: true });
      expect(body).to.not.have.property('toDate');
      const [second, first] = await versionsOf(address, 'USD');
      expect(second).to.deep.equal(body);
      expect(first).to.include({ versionNo: 1, isCurrent: false, fromDate: '2026-01-05' });
      const today = Date.parse(`${body.fromDate}T00:00:00Z`);
      expect(first?.toDate).to.equal(new Date(today - 86_400_000).toISOString().slice(0, 10));
      expect(first?.rows[0]?.unitRate).to.equal(1);
      const { body: page } = await tenant.get(address).expect(200);
      expect(page.content).to.deep.equal([body]);
      const { body: service } = await tenant.get(`${services}/${id}`).expect(200);
      expect(service.rateCards).to.deep.equal([body]);
    });

    it('ends a version of today today, and never puts one before the other', async () => {
      const { id, address } = await make({ rateCards: [card('USD', callsRow(1))] });
      await approveService(tenant, id);
      const ahead = dayFromToday(3);
      await backdate(id, 1, ahead);
      await tenant.put(`${address}/USD`, card('USD', callsRow(2))).expect(200);
      await tenant.put(`${address}/USD`, card('USD', callsRow(3))).expect(200);
      const [third, second, first] = await versionsOf(address, 'USD');
      expect(first).to.include({ versionNo: 1, fromDate: ahead, toDate: ahead });
      expect(second).to.include({ versionNo: 2, fromDate: ahead, toDate: ahead });
      expect(third).to.include({ versionNo: 3, fromDate: ahead, isCurrent: true });
    });

    // spec/beyond.md R13
    it('refuses another first day than the stored one, which it cannot set', async () => {
      const { id, address } = await make({ rateCards: [card('USD', callsRow(1))] });
      await backdate(id, 1, '2026-01-05');
      const dated = (fromDate: string) => ({ ...card('USD', callsRow(2)), fromDate });
      const { body } = await tenant.put(`${address}/USD`, dated('2027-01-01')).expect(400);
      expect(body.message).to.include("'fromDate' '2027-01-01' is not 2026-01-05");
      expect(body.message).to.include('rate-cards/USD/versions');
      const whole = await tenant
        .put(`${services}/${id}`, { rateCards: [dated('2027-01-01')] })
        .expect(400);
      expect(whole.body.message).to.include(
        "'rateCards[0].fromDate' '2027-01-01' is not 2026-01-05",
      );
      const [stored] = await versionsOf(address, 'USD');
      expect(stored?.rows[0]?.unitRate).to.equal(1);
      // What GET answered with can be edited and sent back.
      await tenant.put(`${address}/USD`, dated('2026-01-05')).expect(200);
    });

    // spec/resources.md R50
    it('refuses a currency that is not that of the address', async () => {
      const { address } = await make({ rateCards: [card('USD', callsRow(1))] });
      const { body } = await tenant.put(`${address}/USD`, card('EUR', callsRow(2))).expect(400);
      expect(body.message).to.include('USD');
      expect((await tenant.get(`${address}/USD`).expect(200)).body.rows[0].unitRate).to.equal(1);
    });

    // spec/resources.md R51
    it('leaves one current version and no gap when 50 come at once', async () => {
      const { id, address } = await make({ rateCards: [card('USD', callsRow(0))] });
      await approveService(tenant, id);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          tenant.put(`${address}/USD`, card('USD', callsRow(index + 1))).expect(200),
        ),
      );
      const numbers = answers.map(({ body }) => Number(body.versionNo)).sort((a, b) => a - b);
      expect(numbers).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 2));
      const cards = await RateCard.query(tenant.scope.db.read)
        .forTenant(tenant.id)
        .where({ serviceId: id })
        .orderBy('versionNo');
      expect(cards.map(({ versionNo }) => versionNo)).to.deep.equal(
        Array.from({ length: 51 }, (_, index) => index + 1),
      );
      expect(
        cards.filter(({ isCurrent }) => isCurrent).map((each) => each.versionNo),
      ).to.deep.equal([51]);
      const { body } = await tenant.get(`${address}/USD/versions?page=2`).expect(200);
      expect(body).to.include({ totalElements: 51, totalPages: 3 });
      // Newest first: the third page of 20 holds the versions 11 to 1.
      expect(body.content.map((each: Version) => each.versionNo)).to.deep.equal([
        11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
      ]);
    }).timeout(30_000);

    // spec/resources.md R49
    it('lets one of two POSTs of a currency win', async () => {
      const { address } = await make();
      const answers = await Promise.all(
        [1, 2, 3, 4].map((rate) => tenant.post(address, card('USD', callsRow(rate)))),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409, 409]);
    });
  });

  describe('DELETE', () => {
    // spec/resources.md R54
    it('hides all versions, keeps the rows, and lets the currency start at 1 again', async () => {
      const { id, address } = await make({ rateCards: [card('USD', callsRow(1))] });
      await approveService(tenant, id);
      await tenant.put(`${address}/USD`, card('USD', callsRow(2))).expect(200);
      await tenant.delete(`${address}/us%20dollar`).expect(204, '');
      await tenant.get(`${address}/USD`).expect(404);
      await tenant.get(`${address}/USD/versions`).expect(404);
      await tenant.delete(`${address}/USD`).expect(404);
      const { body } = await tenant.post(address, card('USD', callsRow(3))).expect(201);
      expect(body.versionNo).to.equal(1);
      expect(await versionsOf(address, 'USD')).to.deep.equal([body]);
      const { db } = tenant.scope;
      const cards = await RateCard.query(db.read).forTenant(tenant.id).where({ serviceId: id });
      expect(cards).to.have.length(3);
      const rows = await RateCardRow.query(db.read)
        .forTenant(tenant.id)
        .whereIn(
          'rateCardId',
          cards.map((each) => each.id),
        );
      expect(rows.filter(({ deletedAt }) => deletedAt !== null)).to.have.length(2);
      expect(rows).to.have.length(3);
    });
  });
});
