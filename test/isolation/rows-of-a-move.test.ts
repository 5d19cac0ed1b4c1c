import { expect } from 'chai';
import { idAt } from '../../src/kernel/id.js';
import { projectUsage } from '../../src/activities/usage/projection.js';
import { compareRows } from '../../src/platform/cells/move/compare-rows.js';
import { listMovedTables } from '../../src/platform/cells/move/moved-tables.js';
import {
  createAccount,
  createService,
  meteredService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { asOwner } from '../support/servers/rows.js';
import { createTestDatabase } from '../support/servers/servers.js';
import { useInstance, useTenant } from '../support/servers/use-instance.js';

const count = 60;
const hourMs = 3_600_000;
const anHourAgo = () => idAt(Date.now() - hourMs);

/** spec/platform.md R128. The copy is an empty database: what differs is what was compared. */
describe('rows that are compared while a tenant is moved', function () {
  this.timeout(120_000);
  const instance = useInstance({ withWorkers: true });
  const tenant = useTenant(instance);
  let emptyUrl: string;
  before(async () => {
    emptyUrl = await createTestDatabase();
    for (let index = 0; index < count; index += 1) await createAccount(tenant, `a-${index}`);
    const serviceId = await createService(tenant, 'calls', meteredService);
    // Each alone, as a row of the log of its own, and of an account of its own.
    for (let index = 0; index < count; index += 1) {
      await send(tenant, usage(`a-${index}`, serviceId));
    }
    await waitUntilRated(tenant, count);
    while (await projectUsage(instance.platform, tenant.id));
  });

  /** How many rows were compared of each table of which there are many, all written by `since`. */
  const compared = (range: { after?: string; upTo?: string }) =>
    asOwner(instance.databaseUrl, (source) =>
      asOwner(emptyUrl, async (target) => {
        const tables = await listMovedTables(source);
        const asked = { tenantId: tenant.id, ...range };
        const differences = await compareRows(source, target, tables, asked);
        return differences
          .map(({ table, source: rows }) => ({ table, rows: Number.parseInt(rows, 10) }))
          .filter(({ rows }) => rows >= count / 2)
          .map(({ table }) => table);
      }),
    );

  const grown = [
    'account',
    'audit',
    'rated_transaction',
    'usage_event',
    'usage_identity',
    'usage_message',
  ];

  it('are old ones before the pause, so that it does not last the longer the more there are', async () => {
    const inAnHour = idAt(Date.now() + hourMs);
    // Counters change for as long as their period lasts.
    expect(await compared({ after: inAnHour })).to.deep.equal(['usage_counter']);
    expect(await compared({ upTo: inAnHour })).to.include.members([
      ...grown,
      'usage_list',
      'usage_total',
    ]);
  });

  it('are new ones within the pause', async () => {
    expect(await compared({ after: anHourAgo() })).to.include.members(grown);
  });

  it('are those between two moments, where most were compared before', async () => {
    const inAnHour = idAt(Date.now() + hourMs);
    expect(await compared({ after: anHourAgo(), upTo: inAnHour })).to.have.members([
      ...grown,
      'audit_seal',
    ]);
    expect(await compared({ after: inAnHour, upTo: inAnHour })).to.deep.equal([]);
  });
});
