import { periodOf } from '../kernel/time/period.js';
import type { CompiledRow } from './compile-plan.js';
import { Rejection } from './rejection.js';
import type { CounterKey, RatingPlan, UsageEvent, UsageOwner } from './types.js';

/** The one text form of a counter's key: for maps, and for locking counters in a fixed order. */
export function counterKey(key: CounterKey): string {
  return (
    `${key.ownerType}/${key.ownerId}/${key.serviceId}/${key.frequency}/${key.periodStart}/` +
    key.attributeName
  );
}

/** The counter that a row uses in an event: of the line, or of the account when there is no line. */
export function counterOf(
  row: CompiledRow,
  plan: RatingPlan,
  event: UsageEvent,
  owner: UsageOwner,
): CounterKey | null {
  if (row.meter === null) return null;
  const { attributeName, label } = row.facts;
  if ('fault' in row.meter) {
    throw new Rejection('NO_RATE_CARD', `Row '${label}' of the rate card: ${row.meter.fault}`);
  }
  const { frequency } = row.meter;
  const period = periodOf(frequency, event.date);
  return {
    ownerType: owner.line ? 'line' : 'account',
    ownerId: owner.line ? owner.line.lineageId : owner.accountId,
    serviceId: plan.service.id,
    attributeName,
    frequency,
    periodStart: period.start,
    periodEnd: period.end,
  };
}
