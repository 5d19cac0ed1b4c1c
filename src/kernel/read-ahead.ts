/** Gives what a generator gives; while one of it is worked on, the next is being read. */
export async function* readAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  const read = (): Promise<IteratorResult<T>> => {
    const next = iterator.next();
    // Where the work fails nobody waits for it any more.
    next.catch(() => undefined);
    return next;
  };
  for (let next = await read(); next.done !== true;) {
    const ahead = read();
    yield next.value;
    next = await ahead;
  }
}
