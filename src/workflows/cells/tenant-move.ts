import {
  CancellationScope,
  ContinueAsNew,
  continueAsNew,
  defineQuery,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.js';
import {
  moveProgressQuery,
  type BegunMove,
  type MoveProgress,
  type TenantMove,
} from '../../messages/cells/tenant-move.js';

/** A worker that was killed is noticed within three seconds; a server that is away is waited for. */
const patient = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '3 s',
  retry: { initialInterval: '200 ms', backoffCoefficient: 2, maximumInterval: '10 s' },
} satisfies ActivityOptions;

const steps = proxyActivities<Activities>(patient);
/** The tenant may wait behind it: it is given up soon rather than tried for long. */
const quick = proxyActivities<Activities>({
  ...patient,
  startToCloseTimeout: '10 minutes',
  retry: { initialInterval: '100 ms', backoffCoefficient: 2, maximumAttempts: 10 },
});

/** Bytes of WAL that a copy may be behind when its rows are compared. */
const lagMax = 1024 * 1024;
const lookMsMin = 250;
const lookMsMax = 5_000;
/** How often a copy that lags is compared, and a pause is tried while something is under way. */
const compareMax = 20;
/** A worker of the version before compares the rows whose ids are above it: all. */
const leastId = '00000000-0000-0000-0000-000000000000';
const flipMax = 120;

/** What goes on in another history. */
interface MoveState {
  readonly move: BegunMove;
  progress: MoveProgress;
}

const atFirst: MoveProgress = {
  phase: 'checking',
  from: null,
  copied: 0,
  tables: 0,
  pauseMs: null,
};

/**
 * Moves a tenant to another cell: copies its rows while it is used, compares them, pauses it for less
 * than a second while the last ones arrive, and lets the directory name the new cell. Until then
 * whatever fails, or a cancellation, leaves the tenant where it was (docs/decisions/0362).
 */
export async function moveTenant(input: TenantMove, resumed?: MoveState): Promise<MoveProgress> {
  let progress = resumed?.progress ?? atFirst;
  setHandler(defineQuery<MoveProgress>(moveProgressQuery), () => progress);
  const show = (changes: Partial<MoveProgress>): void => {
    progress = { ...progress, ...changes };
  };
  // What it has begun is taken back below, also where it is canceled meanwhile.
  const move =
    resumed?.move ?? (await CancellationScope.nonCancellable(() => steps.beginTenantMove(input)));
  show({ from: move.from });
  try {
    if (resumed === undefined) await steps.beginTenantCopy(move);
    await copyAll(input, move, () => progress, show);
    const pauseMs = await compareAndFlip(move, show);
    show({ phase: 'moved', pauseMs });
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    const isBack = await CancellationScope.nonCancellable(() => steps.takeTenantBack(move));
    if (isBack) throw error;
    // The directory was flipped, and only the answer was lost.
    await CancellationScope.nonCancellable(() => steps.flipTenant(move));
    show({ phase: 'moved' });
  }
  await CancellationScope.nonCancellable(async () => {
    await steps.endTenantCopy(move);
    await sleep(move.graceMs, { summary: 'the rows that the tenant left are kept' });
    await steps.removeMovedRows(move);
  });
  show({ phase: 'removed' });
  return progress;
}

async function copyAll(
  input: TenantMove,
  move: BegunMove,
  progressOf: () => MoveProgress,
  show: (changes: Partial<MoveProgress>) => void,
): Promise<void> {
  show({ phase: 'copying' });
  for (let lookMs = lookMsMin; ; lookMs = Math.min(2 * lookMs, lookMsMax)) {
    const { tables, copied, lagBytes } = await steps.readTenantCopy(move);
    show({ tables, copied });
    if (tables > 0 && copied === tables && lagBytes < lagMax) return;
    await sleep(lookMs);
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof moveTenant>(input, { move, progress: progressOf() });
    }
  }
}

/** Returns how long the pause was. */
async function compareAndFlip(
  move: BegunMove,
  show: (changes: Partial<MoveProgress>) => void,
): Promise<number> {
  show({ phase: 'comparing' });
  await compareRows(move);
  show({ phase: 'flipping' });
  for (let attempt = 0; attempt < flipMax; attempt += 1) {
    const pauseMs = await CancellationScope.nonCancellable(() =>
      quick.flipTenant({ ...move, bound: leastId }),
    );
    if (pauseMs !== null) return pauseMs;
    await sleep('2 s', { summary: 'something is under way for the tenant' });
  }
  throw new Error(
    'Something was under way for the tenant all the time, or too much changed: try again later.',
  );
}

async function compareRows(move: BegunMove): Promise<void> {
  for (let attempt = 0; attempt < compareMax; attempt += 1) {
    if (await steps.compareTenantCopy(move)) return;
    await sleep('1 s', { summary: 'the copy lags' });
  }
  throw new Error('The copy lags whenever it is compared.');
}
