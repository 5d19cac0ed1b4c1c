/** Bytes of a text in JSON, as UTF-8; no more than `max` characters are looked at. */
function bytesOf(text: string, max: number): number {
  // Each has a byte at least.
  if (text.length > max) return text.length;
  let bytes = 2;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20) bytes += /[\b\t\n\f\r]/.test(text.charAt(at)) ? 2 : 6;
    else if (code === 0x22 || code === 0x5c) bytes += 2;
    else if (code < 0x80) bytes += 1;
    // Two of these are one character of four bytes.
    else if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) bytes += 2;
    else bytes += 3;
  }
  return bytes;
}

/**
 * Whether a value has more than so many bytes as JSON. It looks no further than that: what has one long
 * text a thousand times in it is small until somebody writes it down.
 */
export function isLongerThan(value: unknown, max: number): boolean {
  // Each value has a comma or the end of what it is in; the outermost has none.
  let left = max + 1;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const one = waiting.pop();
    left -= 1;
    if (typeof one === 'string') left -= bytesOf(one, left);
    else if (Array.isArray(one)) {
      if (one.length > left) return true;
      left -= one.length === 0 ? 2 : 1;
      for (const inside of one as unknown[]) waiting.push(inside);
    } else if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one);
      left -= members.length === 0 ? 2 : 1;
      for (const [name, inside] of members) {
        left -= bytesOf(name, left) + 1;
        if (left < 0) return true;
        waiting.push(inside);
      }
    } else if (one !== undefined) left -= JSON.stringify(one).length;
  }
  return left < 0;
}
