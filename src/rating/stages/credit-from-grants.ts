import { ZERO, type Decimal } from '../../kernel/numbers/money.js';

/** What may pay a charge. */
export interface Credit {
  readonly id: string;
  readonly priority: number;
  /** Null: never. */
  readonly expiresAt: Date | null;
  readonly createdAt: Date;
  /** The services whose charges it pays; null: all. */
  readonly serviceIds: readonly string[] | null;
  /** What is left of it, and what of that is promised. */
  readonly rest: Decimal;
  readonly held: Decimal;
}

/** A part of an amount, and what pays it. */
export interface CreditPart<C> {
  readonly credit: C;
  readonly amount: Decimal;
}

const never = Number.POSITIVE_INFINITY;

/** The order in which credits are used: lower priority, then earlier end, then older. */
export function byUse(a: Credit, b: Credit): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  const [endOfA, endOfB] = [a.expiresAt?.getTime() ?? never, b.expiresAt?.getTime() ?? never];
  if (endOfA !== endOfB) return endOfA < endOfB ? -1 : 1;
  const age = a.createdAt.getTime() - b.createdAt.getTime();
  return age === 0 ? compare(a.id, b.id) : age;
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** What of a credit nobody was promised. */
export const freeOf = ({ rest, held }: Credit): Decimal =>
  held.isZero() ? rest : rest.minus(held);

/**
 * Pays an amount with credits in their order of use, each as far as it goes; what they do not pay is
 * billed. A null service is that of a hold, whose event is not known yet: only credits for all services
 * count.
 */
export function payWith<C extends Credit>(
  amount: Decimal,
  serviceId: string | null,
  credits: Iterable<C>,
): CreditPart<C>[] {
  const parts: CreditPart<C>[] = [];
  let open = amount;
  for (const credit of credits) {
    if (!open.greaterThan(ZERO)) break;
    if (!admits(credit, serviceId)) continue;
    const free = freeOf(credit);
    if (!free.greaterThan(ZERO)) continue;
    const part = free.lessThan(open) ? free : open;
    parts.push({ credit, amount: part });
    open = open.minus(part);
  }
  return parts;
}

export function admits({ serviceIds }: Credit, serviceId: string | null): boolean {
  return serviceIds === null || (serviceId !== null && serviceIds.includes(serviceId));
}
