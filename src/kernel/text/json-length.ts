import { isNumberObject, stringifyJson } from './json.js';

/** Whether two units of a text are one character; half of one is written as an escape. */
const isPair = (first: number, second: number): boolean =>
  first < 0xdc00 && second >= 0xdc00 && second <= 0xdfff;

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
    else if (code < 0x800) bytes += 2;
    else if (code < 0xd800 || code > 0xdfff) bytes += 3;
    else if (isPair(code, text.charCodeAt(at + 1))) {
      bytes += 4;
      at += 1;
    } else bytes += 6;
  }
  return bytes;
}

/**
 * Bytes of a value as JSON. Of one that has more than `max` it is some number above that, and it looks no
 * further: what has one long text a thousand times in it is small until somebody writes it down.
 */
export function jsonBytes(value: unknown, max = Number.MAX_SAFE_INTEGER): number {
  // Each value has a comma or the end of what it is in; the outermost has none.
  let bytes = -1;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && bytes <= max) {
    const one = waiting.pop();
    bytes += 1;
    if (typeof one === 'string') bytes += bytesOf(one, max - bytes);
    else if (Array.isArray(one)) {
      // Each has a byte at least.
      if (one.length > max - bytes) return max + 1;
      bytes += one.length === 0 ? 2 : 1;
      for (const inside of one as unknown[]) waiting.push(inside);
    } else if (isNumberObject(one)) bytes += stringifyJson(one).length;
    else if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one);
      bytes += members.length === 0 ? 2 : 1;
      for (const [name, inside] of members) {
        bytes += bytesOf(name, max - bytes) + 1;
        if (bytes > max) return bytes;
        waiting.push(inside);
      }
    } else if (one !== undefined) bytes += JSON.stringify(one).length;
  }
  return bytes;
}

/** Whether a value has more than so many bytes as JSON. */
export const isLongerThan = (value: unknown, max: number): boolean => jsonBytes(value, max) > max;
