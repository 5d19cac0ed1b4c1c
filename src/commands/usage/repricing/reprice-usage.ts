import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import type { RepricingProgress } from '../../../messages/usage-workflow.js';
import { readRun, writePortion } from '../../../models/usage/repricing/repricing.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import { daysTouched } from '../../../queries/usage/finding/usage-event-filter.js';
import {
  triedAdjustments,
  type ChangedFact,
} from '../../../queries/usage/repricing/changed-facts.js';
import { findDifferences } from '../../../queries/usage/repricing/period-differences.js';
import { Repricer } from '../../../queries/usage/repricing/repricer.js';
import {
  ratePortion,
  readPortion,
  type PortionPlace,
  type ReadPortion,
} from '../../../queries/usage/repricing/reprice-accounts.js';
import { findKept } from '../../../queries/usage/repricing/repricing.js';
import { adjustNextPeriods } from './adjust-periods.js';

/** A step ends with the portion that it is in after this time. */
const stepMs = 5_000;

/**
 * Rates portion after portion of a repricing for some seconds, each written once, whoever else works on
 * the same; says how far it is. 404, 409: it was removed meanwhile.
 */
export async function repriceForAWhile(scope: Scope, id: string): Promise<RepricingProgress> {
  const { db, tenantId } = scope;
  const repricing = await findKept(scope, id);
  const { fromAt, toAt, serviceIds, accountIds } = repricing;
  const times = { from: fromAt.toISOString(), to: toAt.toISOString() };
  const ids = await UsageDay.idRange(db.read, tenantId, ['rated'], daysTouched(times));
  const nobody = '00000000-0000-0000-0000-000000000001';
  const range = { ...times, serviceIds, ...(ids ?? { first: nobody, last: nobody }) };
  const until = performance.now() + stepMs;
  let ahead: Ahead | undefined;
  let repricer: Repricer | undefined;
  for (;;) {
    const run = await readRun(db.read, tenantId, id);
    if (!run) throw problem.notFound(`There is no repricing '${id}'.`);
    const { events, total, isDone } = run;
    if (performance.now() > until) return { events, total, isDone: false };
    const changes = run.facts as readonly ChangedFact[];
    const tried = triedAdjustments(changes);
    if (isDone) {
      if (await adjustNextPeriods(scope, repricing, tried)) continue;
      return { events, total, isDone };
    }
    const own = (repricer ??= new Repricer(db.read, tenantId, changes));
    const usage = { repricingId: id, range, accountIds, hasTriedPeriods: tried.length > 0 };
    const read = (place: PortionPlace): Ahead => {
      const portion = readPortion(db.read, tenantId, usage, place, own);
      // The last one that is read ahead is not waited for.
      portion.catch(() => undefined);
      return { place, portion };
    };
    const follow = (one: Ahead): void => {
      const readNext = ({ chosen }: ReadPortion): void => {
        if (!chosen.isDone && performance.now() < until) one.next ??= read(chosen);
      };
      void one.portion.then(readNext, () => undefined);
    };
    // Where somebody else has written meanwhile, what was read ahead is not what comes next.
    if (!ahead || !isSamePlace(ahead.place, run)) ahead = read(run);
    const portion = await ahead.portion;
    // Two are read while one is rated: neither this process nor the database waits for the other.
    if (!portion.chosen.isDone) ahead.next ??= read(portion.chosen);
    ahead = ahead.next;
    if (ahead) follow(ahead);
    const { moves, ...rated } = await ratePortion(portion, usage, run);
    const differences = await findDifferences(db.read, tenantId, tried, moves);
    await db.transaction((trx) => writePortion(trx, tenantId, { ...rated, differences }));
  }
}

/** A portion that is read while the one before it is rated. */
interface Ahead {
  readonly place: PortionPlace;
  readonly portion: Promise<ReadPortion>;
  /** The one behind it, once it is being read. */
  next?: Ahead;
}

const isSamePlace = (a: PortionPlace, b: PortionPlace): boolean =>
  a.accountId === b.accountId && a.eventId === b.eventId;
