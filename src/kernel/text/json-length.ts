/**
 * Whether a value is longer than so many characters as JSON. It looks no further than that: what has one
 * long text a thousand times in it is small until somebody writes it down.
 */
export function isLongerThan(value: unknown, max: number): boolean {
  let left = max;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const one = waiting.pop();
    left -= 1;
    if (typeof one === 'string') left -= one.length;
    else if (Array.isArray(one)) {
      if (one.length > left) return true;
      for (const inside of one as unknown[]) waiting.push(inside);
    } else if (typeof one === 'object' && one !== null) {
      for (const [name, inside] of Object.entries(one)) {
        left -= name.length;
        waiting.push(inside);
      }
    }
  }
  return left < 0;
}
