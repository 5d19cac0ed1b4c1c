/** A copy of an object that lacks some of its properties. */
export const without = (value: object, ...names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
