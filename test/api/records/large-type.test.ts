import { expect } from 'chai';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

const half = 10_000;
const fields = [
  { name: 'number', type: 'number' },
  { name: 'text', type: 'string' },
  { name: 'day', type: 'date' },
  { name: 'flag', type: 'boolean' },
];
/** Each day of 2020 to 2047 and beyond, again and again: 10,000 days, so each is there twice. */
const dayOf = (index: number): string =>
  new Date(Date.UTC(2020, 0, 1 + (index % half))).toISOString().slice(0, 10);

const cases: readonly (readonly [filter: string[], total: number])[] = [
  [['number:eq:777'], 1],
  [['number:gte:100', 'number:lt:160'], 60],
  [['number:gt:19980'], 19],
  [['number:in:5,50,500,5000,50000'], 4],
  [['text:eq:record 12345'], 1],
  // In any other case, or with a joker, it is another text.
  [['text:contains:ecord 12345'], 1],
  [['text:contains:ecord 1_345'], 0],
  [['text:contains:ECORD 12345'], 0],
  // The first of January 2020 is of the records 0 and 10,000.
  [['day:eq:2020-01-01'], 2],
  [['day:lt:2020-01-11'], 20],
  [['day:eq:2020-01-01', 'flag:eq:true'], 1],
];

/** `npm run bench` measures such filters with a million records (`flat`); here they have to be right. */
describe('filters on twenty thousand records', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  before(async function () {
    this.timeout(120_000);
    await tenant.post('/v1/mobjects', { name: 'many', fields }).expect(201);
    for (const from of [0, half]) {
      const data = Array.from({ length: half }, (_none, index) => ({
        number: from + index,
        text: `record ${from + index}`,
        day: dayOf(index),
        // True for the first half alone.
        flag: from === 0,
      }));
      const { body } = await tenant.post('/v1/mobjects/many/mdata/bulk', { data }).expect(200);
      expect(body.created).to.equal(half);
    }
  });

  for (const [filters, total] of cases) {
    it(`find ${total}: ${filters.join(' and ')}`, async () => {
      const query = filters.map((filter) => `filter=${encodeURIComponent(filter)}`).join('&');
      const { body } = await tenant.get(`/v1/mobjects/many/mdata?limit=50&${query}`).expect(200);
      const page = { total: body.pagination.total, shown: body.data.length };
      expect(page).to.deep.equal({ total, shown: Math.min(total, 50) });
    });
  }
});
