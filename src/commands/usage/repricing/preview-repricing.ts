import type { Static } from 'typebox';
import type { Decimal } from '../../../kernel/numbers/money.js';
import { Portions } from '../../../kernel/portions.js';
import { problem } from '../../../kernel/problem.js';
import type { Scope } from '../../../kernel/scope.js';
import { Account } from '../../../models/accounts/account.js';
import { standing } from '../../../models/usage/rated-transaction.js';
import { ratedAfter, type RatedPlace } from '../../../models/usage/repricing/rated-in-range.js';
import { readTriedCharges } from '../../../models/usage/repricing/tried-charge.js';
import { UsageDay } from '../../../models/usage/usage-day.js';
import { requireHalfOpenRange } from '../../../queries/lists/time-range.js';
import { daysTouched } from '../../../queries/usage/finding/usage-event-filter.js';
import { triedAdjustments } from '../../../queries/usage/repricing/changed-facts.js';
import { CounterPlaces } from '../../../queries/usage/repricing/counter-places.js';
import {
  changedPairs,
  keptPairs,
  type BilledPair,
} from '../../../queries/usage/repricing/packed-charge.js';
import { Exact, idBefore } from '../../../queries/usage/repricing/reprice-accounts.js';
import {
  Repricer,
  type Repriced,
  type TriedEvent,
} from '../../../queries/usage/repricing/repricer.js';
import { callOperationsMax, eventOperationsMax } from '../../../rating/index.js';
import type { PreviewBody, RepricingPreview } from '../../../schemas/usage/repricing.js';
import { checkRepricing, requireRangeInDatabase } from './begin-repricing.js';
import { resolveChanges } from './change-kinds.js';

/** As many events as one simulation takes, of as many pages: most may be of other services. */
const eventsMax = 1_000;
const pagesMax = 5;
/** Read and rated at once, since an event may have a thousand charges. */
const heldMax = 100;
const chargesMax = 20_000;

interface Found {
  readonly events: readonly RatedPlace[];
  /** Whether there are no more. */
  readonly isAll: boolean;
}

/** The first events of an account in a range. */
async function findEvents(
  { db, tenantId }: Scope,
  accountId: string,
  range: { readonly from: string; readonly to: string; readonly serviceIds: string[] | null },
): Promise<Found> {
  const ids = await UsageDay.idRange(db.read, tenantId, ['rated'], daysTouched(range));
  if (!ids) return { events: [], isAll: true };
  const events: RatedPlace[] = [];
  let afterId = idBefore(ids.first);
  for (let page = 0; page < pagesMax && events.length < eventsMax; page += 1) {
    const of = { accountId, afterId, most: eventsMax };
    const next = await ratedAfter(db.read, tenantId, { ...range, ...ids }, of);
    events.push(...next.events);
    if (next.bound >= ids.last) {
      return { events: events.slice(0, eventsMax), isAll: events.length <= eventsMax };
    }
    afterId = next.bound;
  }
  return { events: events.slice(0, eventsMax), isAll: false };
}

/** What events come to, before and after. */
class Sums {
  readonly rejected = new Map<string, number>();
  readonly #sums = new Map<string, { before: Decimal; after: Decimal }>();
  charges = 0;
  operations = 0;

  get isFull(): boolean {
    return this.charges >= chargesMax || this.operations >= callOperationsMax;
  }

  add(event: TriedEvent, outcome: Repriced): void {
    if (outcome.kind === 'rated') {
      const { prepared, rated } = outcome;
      this.operations += prepared.cost.operations;
      this.#addPairs(changedPairs(event, prepared, rated));
      return;
    }
    this.#addPairs(keptPairs(event));
    if (outcome.kind === 'same') return;
    const { code, operations } = outcome;
    this.rejected.set(code, (this.rejected.get(code) ?? 0) + 1);
    // What would have been too much was refused, not done.
    this.operations += Math.min(operations, eventOperationsMax);
  }

  #addPairs(pairs: readonly BilledPair[]): void {
    for (const [, { currency, before, after }] of pairs) {
      const sum = this.#sums.get(currency) ?? { before: new Exact(0), after: new Exact(0) };
      this.#sums.set(currency, {
        before: sum.before.plus(before ?? 0),
        after: sum.after.plus(after ?? 0),
      });
      this.charges += 1;
    }
  }

  totals(): Preview['totals'] {
    const sums = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1));
    return sums.map(([currency, { before, after }]) => {
      const difference = after.minus(before);
      const change = before.isZero()
        ? null
        : difference.times(100).dividedBy(before.abs()).toDecimalPlaces(10);
      return { currency, before, after, difference, change };
    });
  }
}
type Preview = Static<typeof RepricingPreview>;

/**
 * What the first events of an account would come to with other prices, while somebody is still choosing
 * them (docs/decisions/0513). Nothing is written. 400: a change names what there is not, or is of periods.
 * 409: a month of the range is in the archive alone.
 */
export async function previewRepricing(
  scope: Scope,
  { accountId, changes, ...asked }: Static<typeof PreviewBody>,
): Promise<Preview> {
  const { db, tenantId } = scope;
  const { from, to } = requireHalfOpenRange(asked);
  const serviceIds = asked.serviceIds ? [...asked.serviceIds] : null;
  const account = await Account.query(db.read).forTenant(tenantId).findById(accountId).select('id');
  if (!account) {
    throw problem.validation(`'accountId' names no account: '${accountId}'`, {
      field: 'accountId',
      value: accountId,
    });
  }
  await checkRepricing(scope, { from, to, accountIds: null, serviceIds }, []);
  const facts = await db.transaction((trx) =>
    resolveChanges(trx, scope, changes, from.slice(0, 10)),
  );
  if (triedAdjustments(facts).length > 0) {
    throw problem.validation(
      "'changes': minimums, maximums and commitments are of whole periods: execute `reprice` for these.",
      { field: 'changes' },
    );
  }
  const { events, isAll } = await findEvents(scope, accountId, { from, to, serviceIds });
  const repricer = new Repricer(db.read, tenantId, facts);
  const counters = new CounterPlaces({});
  const sums = new Sums();
  const portions = new Portions();
  let done = 0;
  while (done < events.length && !sums.isFull) {
    const places = events.slice(done, done + heldMax);
    const ids = places.map(({ id }) => id);
    const charges = await readTriedCharges(db.read, tenantId, ids);
    const held = places.map((place): TriedEvent => ({
      ...place,
      charges: standing(charges.get(place.id) ?? []),
    }));
    const { rateEvent, next } = await repricer.open(held);
    const fitting = next ? held.slice(0, held.indexOf(next)) : held;
    for (const event of fitting) {
      if (sums.isFull) break;
      sums.add(event, await rateEvent(event, counters));
      done += 1;
      if (portions.isOver) await portions.rest();
    }
  }
  // Once more: a month may have been dropped while its events were read.
  await requireRangeInDatabase(db.read, tenantId, { from, to });
  return {
    events: done,
    isWhole: isAll && done === events.length,
    rejected: [...sums.rejected].sort().map(([code, of]) => ({ code, events: of })),
    totals: sums.totals(),
  };
}
