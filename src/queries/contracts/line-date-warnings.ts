/** First and last day, inclusive; null where there is none. */
interface Span {
  readonly startDate: string | null;
  readonly endDate: string | null;
}

interface LineSpan extends Span {
  readonly terminationDate: string | null;
}

/**
 * Warns of days of a line for which its contract does not hold: a line ends with its contract at the
 * latest, and begins with it where it has no first day of its own (docs/decisions/0314).
 */
export function warnOfLineDates(contract: Span, line: LineSpan): string[] {
  const { startDate, endDate, terminationDate } = line;
  const [last = null] = [endDate, terminationDate].filter((day) => day !== null).sort();
  const { startDate: first, endDate: end } = contract;
  if (end !== null && startDate !== null && startDate > end) {
    return [
      `this line begins on ${startDate}, after its contract has ended on ${end}: it is never charged.`,
    ];
  }
  if (end !== null && last !== null && last > end) {
    return [
      `this line runs until ${last}, and its contract ends on ${end}: later days are not charged.`,
    ];
  }
  if (first !== null && startDate === null && last !== null && last < first) {
    return [
      `this line ends on ${last}, before its contract begins on ${first}: it is never charged.`,
    ];
  }
  return [];
}
