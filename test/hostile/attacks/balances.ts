import { accountIdOf } from '../../support/servers/fill.js';
import type { Attack } from '../attack.js';
import type { Attacker } from '../attacker.js';

/** Money that is held and given, by as many at once as can be: each of them locks a wallet. */

const external = '/api/v1/external';
const textOf = (value: unknown): string => JSON.stringify(value);
/** More than may wait in one group (docs/decisions/0431), several times over. */
const manyAtOnce = 256;

/** Wallets of as many accounts, with more money than can be held. */
async function fillWallets(attacker: Attacker, accounts: number): Promise<void> {
  const balance = 1_000_000_000;
  await Promise.all(
    Array.from({ length: accounts }, (_each, index) =>
      attacker.make(`${external}/wallets`, {
        title: `w-${attacker.stamp}-${index}`,
        accountId: accountIdOf(index),
        currency: 'USD',
        balance,
        availableBalance: balance,
      }),
    ),
  );
}

const hold = (attacker: Attacker, accountId: string) => ({
  path: '/v1/holds',
  method: 'POST' as const,
  body: textOf({
    accountId,
    currency: 'USD',
    amount: 0.000001,
    expiresInSeconds: 2_592_000,
    key: `${attacker.stamp}-${attacker.next()}`,
  }),
});

export const balanceAttacks: readonly Attack[] = [
  {
    name: 'holds: as many at once on one wallet',
    operations: ['createHold'],
    isShort: true,
    async run(attacker) {
      await fillWallets(attacker, 1);
      await attacker.flood(() => hold(attacker, accountIdOf(0)), manyAtOnce);
    },
  },
  {
    name: 'holds: as many at once on a wallet each',
    operations: ['createHold'],
    async run(attacker) {
      await fillWallets(attacker, 64);
      await attacker.flood((index) => hold(attacker, accountIdOf(index % 64)), manyAtOnce);
    },
  },
  {
    name: 'holds: the same key by all at once, and balances read meanwhile',
    operations: ['createHold', 'getAccountBalance', 'listHolds'],
    async run(attacker) {
      await fillWallets(attacker, 1);
      const accountId = accountIdOf(0);
      const same = hold(attacker, accountId);
      const reads = ['balance', 'holds?limit=1000'].map((of) => ({
        path: `/v1/accounts/${accountId}/${of}`,
      }));
      await attacker.flood((index) => reads[index % 3] ?? same, manyAtOnce);
    },
  },
  {
    name: 'usage that goes up and down, beside as many grants as may be open, and billed all the time',
    operations: ['createAdjustment', 'cancelUsageEvent'],
    leavesUsage: true,
    // Grants are made first.
    seconds: 20,
    async run(attacker) {
      const account = await attacker.make(`${external}/accounts`, {
        name: `a-${attacker.stamp}`,
        externalId: `falls-${attacker.stamp}`,
      });
      const service = await attacker.make(`${external}/services`, {
        name: `f-${attacker.stamp}`,
        currency: 'USD',
        priceableAttributes: [
          {
            name: 'units',
            dimensionDataType: 'Number',
            isMeterDimension: true,
            meterResetFrequency: 'Monthly',
            aggregation: 'LAST',
          },
        ],
        rateCards: [
          {
            currency: 'USD',
            rows: [{ label: 'Units', priceDimName: 'units', priceMethod: 'QUANTITY', unitRate: 1 }],
          },
        ],
      });
      const [accountId, serviceId] = [String(account?.['id']), String(service?.['id'])];
      const wallet = await attacker.make(`${external}/wallets`, {
        title: `w-${attacker.stamp}`,
        accountId,
        currency: 'USD',
      });
      const grants = `/v1/wallets/${String(wallet?.['id'])}/grants`;
      for (let index = 0; index < 500; index += 1) {
        await attacker.make(grants, { externalId: `g-${index}`, amount: 2, kind: 'promotional' });
      }
      for (const kind of ['maximum', 'minimum', 'commitment']) {
        const agreed = { accountId, kind, value: 700, currency: 'USD', from: '2026-01-01' };
        await attacker.make('/v1/adjustments', agreed);
      }
      const period = { periodStart: '2026-10-01', periodEnd: '2026-10-31' };
      await attacker.flood((index) => {
        const id = `${attacker.stamp}-${index}`;
        if (index % 20 === 19) {
          return {
            path: '/v1/workflows/billing-run/execute',
            method: 'POST',
            body: textOf({ data: { ...period, accountId }, async: true }),
          };
        }
        if (index % 20 === 9) {
          return {
            path: `/v1/usage-events/${attacker.stamp}-${index - 8}-0/cancel`,
            method: 'POST',
            body: textOf({ reason: 'To give back.' }),
          };
        }
        const batch = Array.from({ length: 100 }, (_each, at) => ({
          key: `${id}-${at}`,
          message: {
            externalTransactionId: `${id}-${at}`,
            serviceId,
            billingAccountRef: `falls-${attacker.stamp}`,
            eventTimestamp: '2026-10-05T12:00:00Z',
            // All grants pay it, and all of them get it back.
            dimensions: { units: at % 2 === 0 ? '1000' : '0' },
          },
        }));
        return { path: '/v1/ingest/usage/batch', method: 'POST', body: textOf(batch) };
      });
    },
  },
  {
    name: 'adjustments of every day, as many as may be, of a whole year',
    operations: ['executeWorkflow', 'getNextInvoice'],
    async run(attacker) {
      const account = await attacker.make(`${external}/accounts`, {
        name: `d-${attacker.stamp}`,
        externalId: `daily-${attacker.stamp}`,
      });
      const accountId = String(account?.['id']);
      await Promise.all(
        Array.from({ length: 50 }, (_each, index) =>
          attacker.make('/v1/adjustments', {
            accountId,
            kind: 'minimum',
            value: index + 1,
            currency: 'USD',
            period: 'Daily',
            from: '2025-12-01',
          }),
        ),
      );
      const data = { periodStart: '2025-12-01', periodEnd: '2026-12-31', accountId, dryRun: true };
      const body = textOf({ data });
      await attacker.flood((index) =>
        index % 4 === 3
          ? { path: `/v1/accounts/${accountId}/next-invoice` }
          : { path: '/v1/workflows/billing-run/execute', method: 'POST', body },
      );
    },
  },
  {
    name: 'grants by the thousand on one wallet',
    operations: ['createWalletGrant', 'listWalletGrants', 'listWalletEntries'],
    async run(attacker) {
      const path = `/v1/wallets/${attacker.loot.params['walletId'] ?? ''}`;
      await attacker.flood((index) =>
        index % 4 === 0
          ? { path: `${path}/${index % 8 === 0 ? 'grants' : 'entries'}?limit=100` }
          : {
              path: `${path}/grants`,
              method: 'POST',
              body: textOf({
                externalId: `${attacker.stamp}-${index}`,
                amount: 0.01,
                kind: 'promotional',
                expiresAt: '2099-01-01',
              }),
            },
      );
    },
  },
];
