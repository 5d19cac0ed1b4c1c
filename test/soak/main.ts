/**
 * `npm run test:soak`: usage at half of the capacity for a long time, under kill -9, or, with
 * `--overload`, twice the capacity for two minutes. What was confirmed must be rated, once.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { parseCount } from '../../src/cli/options.js';
import { killAtRandom } from './kills.js';
import { judgeMemory, MemoryWatch, productMebibytesMax } from './memory.js';
import { describeStatuses, memoryChecks, report, showProgress, tell } from './report.js';
import { Stage, type Check } from './stage.js';

const sampleMs = 10_000;

interface SoakOptions {
  readonly minutes: number;
  readonly rate?: number;
  readonly seed: number;
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');

async function soak(stage: Stage, { minutes, rate, seed }: SoakOptions): Promise<number> {
  const { traffic, product } = stage;
  tell(rate === undefined ? 'measuring the capacity' : `${rate} events a second, as asked`);
  const capacity = rate === undefined ? await stage.measureCapacity() : undefined;
  const perSecond = rate ?? Math.max(1, Math.floor((capacity ?? 0) / 2));
  const totalMs = minutes * 60_000;
  tell(`${whole(perSecond)} events a second for ${minutes} min, --seed ${seed}`);
  const watch = new MemoryWatch(product, sampleMs);
  watch.up();
  const end = Date.now() + totalMs;
  let kills = 0;
  const hide = showProgress(() => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 60_000));
    return `confirmed ${whole(traffic.confirmed.size)}, kills ${kills}, ${left} min left`;
  });
  let isOver = false;
  const sending = traffic.atRate(perSecond, {
    underWayMax: 256,
    isRetried: true,
    isOver: () => isOver,
  });
  try {
    await killAtRandom(stage, {
      seed,
      totalMs,
      onUp: watch.up,
      onKill(kind) {
        kills += 1;
        watch.restart();
        tell(`kill -9 of ${kind}`);
      },
    });
  } finally {
    isOver = true;
    watch.stop();
    hide();
  }
  await sending;
  tell('waiting until all is rated');
  await stage.untilRated();
  const growths = judgeMemory(watch.samples);
  if (growths === undefined) tell('memory is not judged: too few samples between the kills');
  return report(
    [
      ['capacity', capacity === undefined ? 'not measured' : `${whole(capacity)} /s`],
      ['rate', `${whole(perSecond)} /s for ${minutes} min, seed ${seed}`],
      ['kills', String(kills)],
      [
        'sent',
        `${whole(traffic.sent)}; not sent while nothing answered: ${whole(traffic.skipped)}`,
      ],
      ['answers', describeStatuses(traffic)],
    ],
    [...(await stage.checkEvents()), ...memoryChecks(growths)],
  );
}

const overloadSeconds = 120;
/** A crowd comes at once, and grows until it need not wait for its refusals to ask for more. */
const socketsAtOnce = 2_000;
const socketsAdded = 25;
const sockets = socketsAtOnce + overloadSeconds * socketsAdded;
const recoveredWithinMs = 1_000;

async function overload(stage: Stage): Promise<number> {
  const { traffic, product } = stage;
  tell('measuring the capacity');
  const capacity = await stage.measureCapacity();
  const usual = traffic.take();
  const perSecond = Math.floor(2 * capacity);
  tell(`${whole(perSecond)} events a second for ${overloadSeconds} s`);
  traffic.statuses.clear();
  const before = { sent: traffic.sent, confirmed: traffic.confirmed.size };
  const watch = new MemoryWatch(product, sampleMs / 5);
  watch.up();
  const end = Date.now() + overloadSeconds * 1000;
  const hide = showProgress(() => `answers ${describeStatuses(traffic)}`);
  await traffic.atRate(perSecond, {
    underWayMax: socketsAtOnce,
    addedMax: socketsAdded,
    isRetried: false,
    isOver: () => Date.now() >= end,
  });
  hide();
  watch.stop();
  const statuses = describeStatuses(traffic);
  const sent = traffic.sent - before.sent;
  const timesCapacity = (events: number) => (events / overloadSeconds / capacity).toFixed(2);
  const crowded = traffic.take();
  const refusals = (traffic.statuses.get(503) ?? 0) + (traffic.statuses.get(429) ?? 0);
  const wanted = sent + traffic.skipped;
  const pending = (await stage.summary())?.pending;
  const recovery = await traffic.sendOne();
  tell('waiting until all is rated');
  const since = Date.now();
  await stage.untilRated();
  const ratedAfter = ((Date.now() - since) / 1000).toFixed(0);
  const peak = Math.max(...watch.samples.map(({ mebibytes }) => mebibytes.product));
  const foreign = [...traffic.statuses.keys()].filter(
    (status) => ![200, 429, 503].includes(status),
  );
  const times = ({ p50, p99, max }: typeof usual): string =>
    `p50 ${whole(p50)} ms, p99 ${whole(p99)} ms, max ${whole(max)} ms`;
  const checks: Check[] = [
    {
      name: 'twice as much was wanted as could be done, and a part refused',
      isPassed: wanted >= 1.9 * capacity * overloadSeconds && refusals > 0,
      figures: `wanted ${timesCapacity(wanted)} and sent ${timesCapacity(sent)} of the capacity`,
    },
    { name: 'answers are 200, 429 or 503', isPassed: foreign.length === 0, figures: statuses },
    {
      name: 'every answer is as specified',
      isPassed: traffic.faults.size === 0,
      figures:
        [...traffic.faults].map(([fault, count]) => `${fault}: ${count}`).join('; ') || 'yes',
    },
    {
      name: `memory of the product is below ${productMebibytesMax} MiB`,
      isPassed: peak < productMebibytesMax,
      figures: `${peak.toFixed(0)} MiB`,
    },
    {
      name: 'a normal event is answered within a second afterwards',
      isPassed: recovery !== undefined && recovery < recoveredWithinMs,
      figures: recovery === undefined ? 'not confirmed' : `${whole(recovery)} ms`,
    },
  ];
  return report(
    [
      ['capacity', `${whole(capacity)} /s; ${times(usual)}`],
      [
        'sent',
        `${whole(sent)} in ${overloadSeconds} s; no socket free for ${whole(traffic.skipped)}`,
      ],
      ['confirmed', `${whole(traffic.confirmed.size - before.confirmed - 1)}; ${times(crowded)}`],
      ['waiting at the end', `${pending ?? 'unknown'}, rated after ${ratedAfter} s`],
    ],
    [...checks, ...memoryChecks(judgeMemory(watch.samples)), ...(await stage.checkEvents())],
  );
}

/** The exit code. The last line printed is `N passed, N failed`. */
async function main(options: SoakOptions & { overload?: true }): Promise<number> {
  tell('starting the product and filling its catalog');
  const stage = await Stage.open(options.overload ? sockets : 256);
  const stop = (): void => {
    void stage.close().finally(() => process.exit(1));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop);
  try {
    return options.overload ? await overload(stage) : await soak(stage, options);
  } catch (error) {
    tell(error instanceof Error ? String(error.stack) : String(error));
    process.stdout.write('0 passed, 1 failed\n');
    return 1;
  } finally {
    await stage.close();
    await wait(0);
  }
}

const program = new Command('npm run test:soak --')
  .description(
    'Starts the product on a folder of its own, sends usage at an even rate, kills the product and ' +
      'its servers with SIGKILL every one to three minutes, and shows at the end that every confirmed ' +
      'event was rated once, that counters are the sums of what was rated, and that memory is flat.',
  )
  .option('--minutes <count>', 'how long', parseCount, 30)
  .option('--rate <count>', 'events a second (half of the capacity, measured first)', parseCount)
  .option(
    '--seed <number>',
    'of the moments and kinds of kills, to repeat a run',
    parseCount,
    Math.ceil(Math.random() * 999_999),
  )
  .option(
    '--overload',
    'instead: twice the measured capacity for two minutes, by senders that wait for no answer',
  )
  .addHelpText(
    'after',
    `
Uses both cores and, in 30 minutes, some GB below the folder for temporary files.
Ends with "N passed, N failed", and with the exit code 1 if anything failed.`,
  )
  .parse();
process.exit(await main(program.opts()));
