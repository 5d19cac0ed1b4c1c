import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from '../attack.js';
import { crowd } from '../attacker.js';

/** Streams of everything, which last as long as their reader likes (docs/decisions/0317). */

const addresses = [
  'focus?format=parquet',
  'usage-events?format=csv',
  'invoice-items?format=parquet',
  'audit?format=csv',
  'rated-transactions',
].map((address) => `/v1/exports/${address}`);

/** More than a tenant may have. */
const streamsTried = 1_000;

/** What an attack asks for the n-th time. */
const addressOf = (index: number): string => addresses[index % addresses.length] ?? '';

export const exportAttacks: readonly Attack[] = [
  {
    name: 'exports of everything, as many as are let in',
    operations: ['exportRecords'],
    async run(attacker) {
      await attacker.flood((index) => ({ path: addressOf(index) }));
    },
  },
  {
    name: 'exports that nobody reads',
    async run(attacker) {
      for (let count = 0; count < crowd && !attacker.isOver(); count += 1) {
        attacker.socket(attacker.head('GET', addressOf(count))).pause();
        await wait(20);
      }
      await attacker.untilOver();
    },
  },
  {
    name: 'streams of changes, as many as are let in, of which nobody reads half',
    operations: ['streamChanges'],
    async run(attacker) {
      const address = '/v1/changes?seconds=3600';
      for (let count = 0; count < streamsTried && !attacker.isOver(); count += 1) {
        const socket = attacker.socket(attacker.head('GET', address));
        if (count % 2 === 0) socket.pause();
      }
      await attacker.untilOver();
    },
  },
  {
    name: 'exports that are left at once',
    async run(attacker) {
      await attacker.repeat(
        () =>
          new Promise<void>((resolve) => {
            const socket = attacker.socket(attacker.head('GET', addressOf(attacker.next())));
            socket.once('close', () => resolve());
            setTimeout(() => socket.destroy(), 100);
          }),
      );
    },
  },
];
