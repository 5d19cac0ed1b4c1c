/**
 * Events per second of processor time, so that other work on the machine does not count; from the
 * parsed message to the rated transaction:
 * npx tsx bench/rating-engine.ts
 */
import type { Decimal } from '../src/kernel/numbers/money.js';
import { counterKey, prepare, ratePrepared, readUsageEvent } from '../src/rating/index.js';
import type { RatingContext } from '../src/rating/index.js';
import {
  aContext,
  aLine,
  aLogic,
  aMeter,
  anAttribute,
  aRow,
  serviceId,
  tiers,
  withRows,
} from '../test/unit/rating/facts.js';

const graduated = tiers(['0', '1000', '0'], ['1000', '100000', '0.01'], ['100000', null, '0.005']);
const metered = { attributes: [aMeter('api_calls'), anAttribute('region', 'INPUT')] };
const cases: [name: string, context: RatingContext][] = [
  ['QUANTITY, no contract', aContext()],
  ['QUANTITY, one line', aContext({ lines: [aLine('l1', { startDate: '2024-01-01' })] })],
  ['TIERED, metered', withRows([aRow('api_calls', 'TIERED', graduated)], metered)],
  [
    'TIERED, metered, logic of 3 steps',
    withRows([aRow('api_calls', 'TIERED', graduated)], {
      ...metered,
      logics: [
        aLogic(
          {
            base: 'Price(api_calls, api_calls)',
            fee: 'base * 0.05 + 1',
            all: 'Round((base + fee) * 100) / 100',
          },
          'all',
        ),
      ],
    }),
  ],
];

const rounds = 200_000;
for (const [name, context] of cases) {
  const counters = new Map<string, Decimal>();
  const started = process.cpuUsage();
  for (let index = 0; index < rounds; index += 1) {
    const read = readUsageEvent({
      externalTransactionId: `tx-${index}`,
      serviceId,
      eventTimestamp: '2024-03-15T12:00:00.123Z',
      billingAccountRef: 'acme',
      dimensions: { api_calls: `${1 + (index % 500)}`, region: 'eu' },
    });
    if (!read.ok) throw new Error(read.message);
    const prepared = prepare(read.event, context);
    if (!prepared.ok) throw new Error(prepared.message);
    const rated = ratePrepared(prepared, counters);
    if (!rated.ok) throw new Error(rated.message);
    for (const { key, after } of rated.counterChanges) counters.set(counterKey(key), after);
  }
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1e6;
  console.log(`${name}: ${Math.round(rounds / seconds).toLocaleString('en')} events/s`);
}
