import { expect } from 'chai';
import { migrateDatabase } from '../../src/platform/database/migrations.js';
import { migrateTo } from '../support/servers/migrate-to.js';
import { asOwner } from '../support/servers/rows.js';
import { createTestDatabase } from '../support/servers/servers.js';

const before = '20261223000000-name-who-started.js';
const idOf = (number: number): string => `0190a000-0000-7000-8000-00000000000${number}`;

// spec/beyond.md R272
describe('holds that were committing by one event when that became impossible', function () {
  this.timeout(120_000);

  it('are open again but for the first, and the others are as they were', async () => {
    const databaseUrl = await createTestDatabase();
    await migrateTo(databaseUrl, before, 'down');
    await asOwner(databaseUrl, async (owner) => {
      await owner.query(`insert into tenant (id, name) values ('t', 't'), ('u', 'u')`);
      await owner.query(
        `insert into account (tenant_id, id, name, number, external_id, default_currency)
         select tenant, $1, 'a', 'a', 'a', 'USD' from unnest(array['t', 'u']) as tenant`,
        [idOf(9)],
      );
      const hold = (tenantId: string, number: number, event: string) =>
        owner.query(
          `insert into wallet_hold (tenant_id, id, account_id, currency, amount, key, content_id,
             parts, status, expires_at, release_at, external_id, message_id, created_at)
           values ($1, $2::uuid, $3, 'USD', 1, $2::text, $3, '[]', 'committing', '2026-12-31', '2026-12-30', $4,
             $3, now())`,
          [tenantId, idOf(number), idOf(9), event],
        );
      await hold('t', 1, 'same');
      await hold('t', 2, 'same');
      await hold('t', 3, 'other');
      await hold('u', 4, 'same');
    });
    await migrateDatabase(databaseUrl);
    const { rows } = await asOwner(databaseUrl, (owner) =>
      owner.query(
        `select right(id::text, 1)::int as number, status, external_id as event,
           release_at = expires_at as "isReleasedLater" from wallet_hold order by id`,
      ),
    );
    const untouched = { status: 'committing', isReleasedLater: false };
    expect(rows).to.deep.equal([
      { ...untouched, number: 1, event: 'same' },
      { number: 2, status: 'open', event: null, isReleasedLater: true },
      { ...untouched, number: 3, event: 'other' },
      { ...untouched, number: 4, event: 'same' },
    ]);
  });
});
