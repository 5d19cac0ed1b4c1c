/**
 * `npm run test:hostile`: a neighbour sends simple requests while an attacker with a tenant of his own
 * sends the dearest that he may, one attack after another; nobody else may notice.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import { parseCount } from '../../src/cli/options.js';
import { defined } from '../../src/kernel/defined.js';
import type { Attack } from './attack.js';
import { attacks } from './attacks/index.js';
import { tryLeaks } from './leaks.js';
import type { Fared } from './neighbour.js';
import { startHostileProvider } from './provider.js';
import { faultsOf, limitOf, report, tell, toJson, type Outcome } from './report.js';
import { Stage } from './stage.js';

interface HostileOptions {
  readonly only: readonly string[];
  readonly seconds: number;
  readonly short?: true;
  readonly json?: string;
  readonly list?: true;
  readonly leaks?: true;
}

const calmMs = 1_000;
/** Before an attack the one before it is to be over: what it has left to do is no harm of the next. */
const calmP99 = 25;
const calmWithinMs = 120_000;
const baselineMs = 5_000;
const memoryEveryMs = 200;

/** The most memory that the process holds while the work is done; undefined once it is another one. */
async function watchMemory(stage: Stage, work: () => Promise<void>): Promise<number | undefined> {
  let most: number | undefined = 0;
  const look = async (): Promise<void> => {
    const now = await stage.memory();
    most = now === undefined || most === undefined ? undefined : Math.max(most, now);
  };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      await look();
      await wait(memoryEveryMs);
    }
  })();
  await work();
  isOver = true;
  await watching;
  await look();
  return most;
}

/** What the neighbour sees in some time in which nobody attacks. */
async function calm(stage: Stage, millis: number): Promise<Fared> {
  stage.neighbour.forget();
  await wait(millis);
  return stage.neighbour.take();
}

/** The last of the neighbour's calm seconds before an attack, once he is served as if nobody attacked. */
async function untilCalm(stage: Stage): Promise<Fared> {
  const end = Date.now() + calmWithinMs;
  for (;;) {
    const now = await calm(stage, calmMs);
    if (now.p99 < calmP99 || Date.now() > end) return now;
  }
}

/**
 * Whether the attacker's client comes behind the product and the neighbour for the processors of this machine: it
 * stands for many other machines. Where the system does not let it come to the fore again, it stays behind.
 */
function stepBehind(isBehind: boolean): void {
  const { PRIORITY_LOW, PRIORITY_NORMAL } = constants.priority;
  try {
    setPriority(isBehind ? PRIORITY_LOW : PRIORITY_NORMAL);
  } catch {
    // What it starts from now on is as far behind, and so slower than it could be.
  }
}

async function runAttack(stage: Stage, attack: Attack, seconds: number): Promise<Outcome> {
  const before = await untilCalm(stage);
  const attacker = stage.attacker((attack.seconds ?? seconds) * 1000);
  stage.neighbour.forget();
  let error: string | undefined;
  let during: Fared = before;
  const mebibytes = await watchMemory(stage, async () => {
    stepBehind(true);
    try {
      // What prepares an attack may wait for a product that is stopped.
      await Promise.race([attack.run(attacker), attacker.untilOver()]);
      await attacker.untilOver();
    } catch (thrown) {
      error = String(thrown).slice(0, 200);
    } finally {
      stepBehind(false);
    }
    during = await stage.neighbour.take();
    await attacker.cleanUp().catch((thrown: unknown) => {
      error ??= String(thrown).slice(0, 200);
    });
    await attacker.close();
  });
  const recoveredMs =
    mebibytes === undefined
      ? undefined
      : await stage.untilRecovered(async () => {
          const now = await calm(stage, 500);
          const isServed = Object.keys(now.faults).length === 0 && now.requests > 10;
          return isServed && now.p99 < limitOf(now);
        });
  const { name, judges = 'all', asksForRating = false, findsNothing = false } = attack;
  const { statuses, fault: answered500 } = attacker;
  return {
    name,
    judges,
    asksForRating,
    findsNothing,
    before,
    during,
    mebibytes,
    recoveredMs,
    statuses,
    ...defined({ error, answered500 }),
  };
}

const line = (outcome: Outcome): string => {
  const { name, before, during, mebibytes } = outcome;
  const faults = faultsOf(outcome);
  const figures =
    `p99 ${before.p99.toFixed(0)} -> ${during.p99.toFixed(0)} ms, max ${during.max.toFixed(0)} ms, ` +
    `${mebibytes === undefined ? 'process ended' : `${mebibytes.toFixed(0)} MiB`}`;
  return `${name}: ${figures}: ${faults.length === 0 ? 'ok' : `FAILED: ${faults.join(', ')}`}`;
};

/** Every attack after the other; one that ended the product, or does not let go of it, ends it for all. */
async function runAll(
  stage: Stage,
  chosen: readonly Attack[],
  seconds: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let isPrivate = false;
  for (const attack of chosen) {
    if (attack.needsPrivateWebhooks === true && !isPrivate) {
      tell('starting the product again, so that webhooks may lead to this machine');
      isPrivate = true;
      await stage.restart({ WEBHOOK_PRIVATE_ADDRESSES: 'true' });
      await calm(stage, baselineMs);
    }
    const outcome = await runAttack(stage, attack, seconds);
    outcomes.push(outcome);
    tell(`${outcomes.length} of ${chosen.length}: ${line(outcome)}`);
    if (outcome.mebibytes === undefined || outcome.recoveredMs === undefined) {
      tell('starting the product again');
      await stage.restart(isPrivate ? { WEBHOOK_PRIVATE_ADDRESSES: 'true' } : {});
      await calm(stage, baselineMs);
    }
  }
  return outcomes;
}

/**
 * Linux may divide the processors by session, where control groups do not: each connection of PostgreSQL,
 * a session of its own, then has as much as the product, and nobody's priority counts (docs/decisions/0334).
 */
async function warnOfSessions(): Promise<void> {
  const setting = '/proc/sys/kernel/sched_autogroup_enabled';
  const isOn = (await readFile(setting, 'utf8').catch(() => '0')).trim() === '1';
  if (!isOn) return;
  tell(
    'this kernel divides the processors by session; figures may be several times worse than where ' +
      'control groups do it, as on servers. For a measurement, as root: sysctl -w kernel.sched_autogroup_enabled=0',
  );
}

function choose({ only, short }: HostileOptions): Attack[] {
  const wanted = only.map((text) => text.toLowerCase());
  return attacks.filter(
    ({ name, isShort }) =>
      (wanted.length === 0 || wanted.some((text) => name.toLowerCase().includes(text))) &&
      (short !== true || isShort === true),
  );
}

/** The exit code. The last line printed is `N passed, N failed`. */
async function main(options: HostileOptions): Promise<number> {
  const chosen = choose(options);
  if (options.list === true) {
    for (const { name } of chosen) process.stdout.write(`${name}\n`);
    return 0;
  }
  tell(`starting the product and filling it; ${chosen.length} attacks follow`);
  await warnOfSessions();
  const provider = await startHostileProvider();
  const stage = await Stage.open(provider.env);
  const stop = (): void => {
    void stage.close().finally(() => process.exit(1));
  };
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, stop);
  try {
    const floor = await calm(stage, baselineMs);
    tell(
      `nobody attacks: p50 ${floor.p50.toFixed(1)} ms, p99 ${floor.p99.toFixed(1)} ms, timers ` +
        `${floor.lagMs.toFixed(1)} ms late`,
    );
    const outcomes = await runAll(stage, chosen, options.seconds);
    if (options.json !== undefined) {
      await writeFile(options.json, `${JSON.stringify(outcomes.map(toJson), null, 1)}\n`);
    }
    const checks =
      options.only.length === 0 || options.leaks === true
        ? await tryLeaks(stage.product, tell)
        : [];
    return report(outcomes, checks);
  } catch (error) {
    tell(error instanceof Error ? String(error.stack) : String(error));
    process.stdout.write('0 passed, 1 failed\n');
    return 1;
  } finally {
    await stage.close();
    await provider.close();
  }
}

const collect = (value: string, all: readonly string[]): string[] => [...all, value];

const program = new Command('npm run test:hostile --')
  .description(
    'Starts the product on a folder of its own, with two tenants: one sends simple requests, the other ' +
      'attacks it in every way that is known. Shows for each attack how long the first one waited ' +
      'before and during it, what the process held in memory, and whether it is still the same.',
  )
  .option('--only <text>', 'only attacks whose name contains this; may be repeated', collect, [])
  .option('--seconds <count>', 'how long each attack lasts', parseCount, 3)
  .option('--short', 'only the worst of each kind')
  .option('--json <file>', 'write all figures to this file, too')
  .option('--leaks', 'with --only: what was taken or reached beside the API is tried, too')
  .option('--list', 'show the names of the attacks and end')
  .addHelpText(
    'after',
    `
A request of the neighbour may take 250 ms at the 99th percentile, or five times what timers of its own
process are late where the machine is busy; the product's process may hold 1 GiB. Milliseconds all.
Ends with "N passed, N failed", and with the exit code 1 if anything failed.`,
  )
  .parse();
process.exit(await main(program.opts()));
