const secondsOf: Readonly<Record<string, number>> = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** `30s`, `15m`, `1h`, `7d` as seconds; undefined for any other text. */
export function durationSeconds(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (secondsOf[unit ?? ''] ?? 0);
  return seconds > 0 ? seconds : undefined;
}

/** Seconds in the greatest unit that holds them without a rest: 7776000 is `90d`. */
export function durationText(seconds: number): string {
  const [unit = 's', length = 1] =
    Object.entries(secondsOf).find(([, one]) => seconds % one === 0) ?? [];
  return `${seconds / length}${unit}`;
}
