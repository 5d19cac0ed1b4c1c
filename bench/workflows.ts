/** The floor of every durable path: a workflow that does nothing. */
export function doNothing(): Promise<string> {
  return Promise.resolve('done');
}
