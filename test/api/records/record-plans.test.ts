import { expect } from 'chai';
import { listRecords } from '../../../src/queries/records/record.js';
import {
  openTestInstance,
  type TestInstance,
  type TestTenant,
} from '../../support/servers/instance.js';
import { explain, faultOf, record } from '../../support/servers/plans.js';
import { asOwner } from '../../support/servers/rows.js';

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

describe('the plans of filters on records', () => {
  let instance: TestInstance;
  let tenant: TestTenant;
  before(async function () {
    this.timeout(120_000);
    instance = await openTestInstance();
    tenant = await instance.tenant();
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
    await asOwner(instance.databaseUrl, (client) => client.query('vacuum analyze record'));
  });
  after(() => instance.close());

  for (const [filter, total] of cases) {
    it(`read by index: ${filter.join(' and ')}`, async () => {
      const db = tenant.scope.db.read;
      let found = -1;
      const statements = await record(db, async () => {
        const list = await listRecords(tenant.scope, 'many', { limit: 50, offset: 0, filter });
        found = list.total;
      });
      expect(found).to.equal(total);
      const ofRecords = statements.filter(({ text }) => / from "?record"?[ ,]/.test(text));
      expect(ofRecords).to.not.deep.equal([]);
      for (const statement of ofRecords) {
        for (const step of await explain(db, statement)) {
          expect(faultOf(step), statement.text).to.equal(undefined);
        }
      }
    });
  }
});
