import type { Static } from 'typebox';
import { problem } from '../../kernel/problem.js';
import type { Scope } from '../../kernel/scope.js';
import { UsageEvent, type UsageStatus } from '../../models/usage/usage-event.js';
import {
  outcomeEventsMax,
  type OutcomesBody,
  type UsageOutcomes,
} from '../../schemas/usage/usage-event.js';
import { requireRangesInDatabase } from '../../models/usage/finding/dropped-month.js';
import { findGoneMessages } from './gone-message.js';
import { presentUsageSummary, type UsageEventSummaryDto } from './usage-event.js';

type Outcomes = Static<typeof UsageOutcomes>;
type Ranges = OutcomesBody['ranges'];

const shownMax = 100;

/**
 * The events in these ranges of offsets, which are joined, so that one statement serves them all.
 */
const chooseAt = ({ tenantId, db }: Scope, ranges: Ranges) =>
  UsageEvent.at(db.read, tenantId, ranges);

/**
 * The outcomes of the events in these ranges of offsets. 400: a range is empty or too long. 409: events
 * of them are in the archive alone.
 */
export async function findUsageOutcomes(scope: Scope, ranges: Ranges): Promise<Outcomes> {
  const inverted = ranges.find(({ from, to }) => to <= from);
  if (inverted) {
    throw problem.validation(
      `A range ends at ${inverted.to}, which is not after ${inverted.from}.`,
    );
  }
  const accepted = ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  if (accepted > outcomeEventsMax) {
    throw problem.validation(
      `The ranges have ${accepted} events; ask for at most ${outcomeEventsMax} at once.`,
    );
  }
  const rows = (await chooseAt(scope, ranges)
    .select('usageEvent.status', 'usageEvent.code')
    .count('* as count')
    .groupBy('usageEvent.status', 'usageEvent.code')) as unknown as {
    status: UsageStatus;
    code: Outcomes['reasons'][number]['code'] | null;
    count: string;
  }[];
  await requireRangesInDatabase(scope.db.read, scope.tenantId, ranges);
  const tally = { rated: 0, duplicate: 0, rejected: 0, canceled: 0 };
  for (const { status, count } of rows) tally[status] += Number(count);
  const reasons = rows
    .flatMap(({ code, count }) => (code === null ? [] : { code, events: Number(count) }))
    .sort((a, b) => b.events - a.events || a.code.localeCompare(b.code));
  const rejected = tally.rejected === 0 ? [] : await readRejected(scope, ranges);
  return {
    accepted,
    ...tally,
    pending: accepted - tally.rated - tally.duplicate - tally.rejected - tally.canceled,
    reasons,
    rejectedEvents: rejected,
  };
}

/** Of those that are tried again meanwhile some are rejected no more when they are read. */
async function readRejected(scope: Scope, ranges: Ranges): Promise<UsageEventSummaryDto[]> {
  const { tenantId, db } = scope;
  const found = await chooseAt(scope, ranges)
    .select('usageEvent.id')
    .where('usageEvent.status', 'rejected')
    .orderBy(['usageEvent.partition', 'usageEvent.offset'])
    .limit(shownMax);
  const ids = found.map(({ id }) => id);
  const rejected: UsageEventSummaryDto[] = [];
  for await (const read of UsageEvent.readByWeight(db.read, tenantId, ids)) {
    const events = read.filter(({ status }) => status === 'rejected');
    await findGoneMessages(db.read, tenantId, events);
    rejected.push(...events.map((event) => presentUsageSummary(event)));
  }
  return rejected;
}
