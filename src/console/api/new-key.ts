/**
 * A key for a request that is to be carried out once, whatever becomes of its answer. Not by
 * `randomUUID()`, which browsers have on pages over HTTPS alone: the console is served over HTTP, too.
 */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
