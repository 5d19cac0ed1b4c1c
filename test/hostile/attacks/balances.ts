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
    operations: ['createHold', 'getAccountBalance'],
    async run(attacker) {
      await fillWallets(attacker, 1);
      const accountId = accountIdOf(0);
      const same = hold(attacker, accountId);
      await attacker.flood(
        (index) => (index % 2 === 0 ? same : { path: `/v1/accounts/${accountId}/balance` }),
        manyAtOnce,
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
