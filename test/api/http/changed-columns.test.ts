import { expect } from 'chai';
import { external } from '../../support/servers/instance.js';
import { asOwner } from '../../support/servers/rows.js';
import { useInstance, useTenant } from '../../support/servers/use-instance.js';

/** A migration is applied while the processes of the version before still serve requests. */
describe('a table whose columns change while requests are served', () => {
  const instance = useInstance();
  const tenant = useTenant(instance);
  let id: string;
  before(async () => {
    const account = { name: 'Same', externalId: 'same', contactInfoList: [{ contact: 1 }] };
    id = (await tenant.post(`${external}/accounts`, account).expect(201)).body.id;
  });

  /** What is told of the account at every address that has it: over and over, on all connections. */
  const read = async (): Promise<object[]> => {
    const paths = ['', `/${id}`, '/by-external-id/same', '?q=Same'];
    const rounds = Array.from({ length: 4 }, () => paths).flat();
    const answers = await Promise.all(
      rounds.map((path) => tenant.get(`${external}/accounts${path}`).expect(200)),
    );
    return answers.map(({ body }) => ({ ...body, requestId: null, timestamp: null }));
  };
  const migrate = (sql: string) => asOwner(instance.databaseUrl, (client) => client.query(sql));

  it('is read as before when one is added', async () => {
    const before = await read();
    await migrate(`alter table account add column shoe_size text default '42'`);
    expect(await read()).to.deep.equal(before);
  });

  it('is read as before when one is dropped, and as many are there in another order', async () => {
    await migrate(`update account set pan = 'P-1'`);
    const before = await read();
    expect(JSON.stringify(before)).to.include('P-1');
    await migrate(`
      alter table account drop column shoe_size, add column hat_size text default '57';
      alter table account rename column pan to pan_number;
      alter table account add column pan text;
      update account set pan = pan_number;
      alter table account drop column pan_number;
    `);
    expect(await read()).to.deep.equal(before);
  });
});
