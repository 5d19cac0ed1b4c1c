import { expect } from 'chai';
import fc from 'fast-check';
import { external, type TestTenant } from '../support/servers/instance.js';
import { asOwner } from '../support/servers/rows.js';
import {
  createAccount,
  createService,
  send,
  usage,
  waitUntilRated,
} from '../support/billing/usage.js';
import { useInstance } from '../support/servers/use-instance.js';

const countRows = (url: string, sql: string, values: unknown[]): Promise<number> =>
  asOwner(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from ${sql}`,
      values,
    );
    return rows[0]?.count ?? NaN;
  });

describe('totals of lists', () => {
  const instance = useInstance({ withWorkers: true, isShared: true });

  const totalOf = async (tenant: TestTenant, path: string): Promise<number> => {
    const { body } = await tenant.get(path).expect(200);
    return (body.pagination?.total ?? body.data.totalElements) as number;
  };

  it('of accounts equal a count after creates, renames and deletes, many at once', async function () {
    this.timeout(120_000);
    const step = fc.record({
      kind: fc.constantFrom('create', 'create', 'rename', 'delete', 'clash'),
      index: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 4 }),
        async (groups) => {
          const tenant = await instance.tenant();
          const ids: string[] = [await createAccount(tenant, 'first')];
          let serial = 0;
          // The steps of a group run side by side, so that several transactions count at once.
          for (const group of groups) {
            const made = await Promise.all(
              group.map(async ({ kind, index }) => {
                const path = `${external}/accounts/${ids[index % ids.length] ?? ''}`;
                if (kind === 'delete') await tenant.delete(path);
                else if (kind === 'rename') await tenant.put(path, { name: `Renamed ${index}` });
                else if (kind === 'clash') {
                  // 409: nothing of it is counted, unless the first was deleted.
                  const externalId = 'first';
                  await tenant.post(`${external}/accounts`, { name: 'Clash', externalId });
                } else return createAccount(tenant, `made-${(serial += 1)}`);
                return undefined;
              }),
            );
            ids.push(...made.filter((id) => id !== undefined));
            const counted = await countRows(
              instance.databaseUrl,
              'account where tenant_id = $1 and deleted_at is null',
              [tenant.id],
            );
            expect(await totalOf(tenant, `${external}/accounts`)).to.equal(counted);
          }
        },
      ),
      { numRuns: 12 },
    );
  });

  // spec/rating.md R63
  it('of events and transactions equal a count after duplicates, conflicts, repairs and retries', async function () {
    this.timeout(180_000);
    const day = fc.constantFrom(
      '2026-03-14T23:59:59.999Z',
      '2026-03-15T00:00:00Z',
      '2026-03-16T12:00:00Z',
    );
    const sent = fc.record({
      account: fc.constantFrom('known', 'known', 'late'),
      id: fc.nat(7),
      eventTimestamp: day,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 25 }), async (events) => {
        const tenant = await instance.tenant();
        await createAccount(tenant, 'known');
        const serviceId = await createService(tenant, 'Calls');
        await Promise.all(
          events.map(({ account, id, eventTimestamp }) =>
            send(
              tenant,
              usage(account, serviceId, { externalTransactionId: `id-${id}`, eventTimestamp }),
            ),
          ),
        );
        await waitUntilRated(tenant, events.length);
        await expectTotals(tenant);
        await createAccount(tenant, 'late');
        await tenant.post('/v1/usage-events/retry', {}).expect(200);
        await expectTotals(tenant);
      }),
      { numRuns: 8 },
    );
  });

  const ranges = [
    ['2026-03-15', '2026-03-15', '2026-03-15T00:00:00Z', '2026-03-16T00:00:00Z'],
    ['2026-03-14', '2026-03-15', '2026-03-14T00:00:00Z', '2026-03-16T00:00:00Z'],
    [
      '2026-03-14T12:00:00Z',
      '2026-03-16T12:00:00Z',
      '2026-03-14T12:00:00Z',
      '2026-03-16T12:00:00Z',
    ],
    [
      '2026-03-14T23:59:59.999Z',
      '2026-03-16T12:00:00.001Z',
      '2026-03-14T23:59:59.999Z',
      '2026-03-16T12:00:00.001Z',
    ],
  ] as const;

  async function expectTotals(tenant: TestTenant): Promise<void> {
    const { databaseUrl } = instance;
    for (const status of [undefined, 'rated', 'rejected', 'duplicate']) {
      const chosen = status === undefined ? '' : `&status=${status}`;
      const where = `usage_event where tenant_id = $1 and ($2::text is null or status = $2)`;
      const values = [tenant.id, status ?? null];
      const all = await countRows(databaseUrl, where, values);
      expect(await totalOf(tenant, `/v1/usage-events?limit=1${chosen}`), chosen).to.equal(all);
      for (const [from, to, start, end] of ranges) {
        const counted = await countRows(
          databaseUrl,
          `${where} and coalesce(event_at, received_at) >= $3
             and coalesce(event_at, received_at) < $4`,
          [...values, start, end],
        );
        const path = `/v1/usage-events?limit=100&from=${from}&to=${to}${chosen}`;
        const { body } = await tenant.get(path).expect(200);
        expect(body.pagination.total, path).to.equal(counted);
        expect(body.data.length, path).to.equal(counted);
      }
    }
    for (const [from, to] of [
      ['2026-03-14', '2026-03-14'],
      ['2026-03-15', '2026-03-16'],
      ['2026-03-01', '2026-03-31'],
    ] as const) {
      const counted = await countRows(
        databaseUrl,
        'rated_transaction where tenant_id = $1 and transaction_date between $2 and $3',
        [tenant.id, from, to],
      );
      const path = `${external}/rated-transactions?fromDate=${from}&toDate=${to}`;
      expect(await totalOf(tenant, path), path).to.equal(counted);
    }
  }

  it('are kept for every table whose list reads them', async () => {
    await asOwner(instance.databaseUrl, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `select tgrelid::regclass::text as name from pg_trigger where tgfoid = 'count_inserted'::regproc
         order by 1`,
      );
      expect(rows.map(({ name }) => name)).to.deep.equal([
        'account',
        'contract',
        'invoice',
        'payment',
        'service',
        'wallet',
      ]);
    });
  });
});
